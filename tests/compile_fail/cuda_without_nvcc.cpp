// expect: eddy::Cuda: this source is not compiled by nvcc; give it the suffix .cu
// The backend for GPUs in a source that g++ compiles.
#ifdef EDDY_BAD
#include <eddy/backends/cuda.hpp>
#else
#include <eddy/backends/cpu.hpp>
#endif
