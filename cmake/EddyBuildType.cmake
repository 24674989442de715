# Read where another project takes eddy, by find_package or add_subdirectory. Without optimisation the code that eddy writes at
# compile time runs some 200 times slower, and nothing else would tell.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS MATCHES "-O[1-3sfz]")
    message(WARNING "eddy: no build type is set, so that programs are compiled without optimisation and run some 200 times slower; "
        "configure with -DCMAKE_BUILD_TYPE=Release")
endif()
