// The kernel that wants the most registers, for devices before and after those of group_loops.cu.
#include "device/group_kernels.hpp"

namespace group_kernels {

template __global__ void gradient_kernel<double>(const __grid_constant__ GradientWork<double>);

}  // namespace group_kernels
