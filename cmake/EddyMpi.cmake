# eddy::mpi, where there is an MPI: eddy with <eddy/backends/mpi.hpp>. Read in the build tree, and where another project takes eddy by
# find_package. The library itself knows no MPI: the header is compiled by who uses it, for each MPI has an ABI of its own.
get_property(eddy_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(CXX IN_LIST eddy_languages)
    set(MPI_CXX_SKIP_MPICXX ON)    # the C interface is enough
    find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND AND NOT TARGET eddy::mpi)
    add_library(eddy_mpi INTERFACE)
    add_library(eddy::mpi ALIAS eddy_mpi)
    target_link_libraries(eddy_mpi INTERFACE eddy::eddy MPI::MPI_CXX)
endif()
