# eddy::cuda, where there is a CUDA toolkit: eddy for sources that nvcc compiles, with <eddy/backends/cuda.hpp>. Read in the build tree,
# and where another project takes eddy by find_package. nvcc links the CUDA runtime by itself.
find_package(CUDAToolkit 12.1 QUIET)
if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE AND NOT TARGET eddy::cuda)
    add_library(eddy_cuda INTERFACE)
    add_library(eddy::cuda ALIAS eddy_cuda)
    target_link_libraries(eddy_cuda INTERFACE eddy::eddy)
endif()

# eddy::nccl, where there is an NCCL besides: several GPUs of one machine, with <eddy/backends/nccl.hpp>.
if(TARGET eddy::cuda AND NOT TARGET eddy::nccl)
    find_path(EDDY_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "folder of nccl.h, for eddy::nccl")
    find_library(EDDY_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib DOC "libnccl, for eddy::nccl")
    mark_as_advanced(EDDY_NCCL_INCLUDE_DIR EDDY_NCCL_LIBRARY)
    if(EDDY_NCCL_INCLUDE_DIR AND EDDY_NCCL_LIBRARY)
        add_library(eddy_nccl INTERFACE)
        add_library(eddy::nccl ALIAS eddy_nccl)
        target_include_directories(eddy_nccl SYSTEM INTERFACE ${EDDY_NCCL_INCLUDE_DIR})
        target_link_libraries(eddy_nccl INTERFACE eddy::cuda ${EDDY_NCCL_LIBRARY})
    endif()
endif()
