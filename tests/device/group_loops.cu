// The kernels of Cuda with one lane a thread, forward and back: they compile for a device, within
// registers that let three blocks of 128 threads live on a processor, five of them in single
// precision. The stack holds what calls off the hot path have the address of: the group, and copies of
// the state that they are given (docs/design/solving.md).
#include "device/group_kernels.hpp"

namespace group_kernels {

template __global__ void gradient_kernel<float>(const __grid_constant__ GradientWork<float>);
template __global__ void gradient_kernel<double>(const __grid_constant__ GradientWork<double>);
template __global__ void solve_kernel<float>(const __grid_constant__ SolveWork<float>);
template __global__ void solve_kernel<double>(const __grid_constant__ SolveWork<double>);

}  // namespace group_kernels
