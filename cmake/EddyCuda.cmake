# eddy::cuda, where there is a CUDA toolkit: eddy for sources that nvcc compiles, with <eddy/backends/cuda.hpp>. Read in the build tree,
# and where another project takes eddy by find_package. nvcc links the CUDA runtime by itself.
find_package(CUDAToolkit 12.1 QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND NOT TARGET eddy::cuda)
    add_library(eddy_cuda INTERFACE)
    add_library(eddy::cuda ALIAS eddy_cuda)
    target_link_libraries(eddy_cuda INTERFACE eddy::eddy)
endif()
