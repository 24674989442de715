# Makes the package of the library that `build` holds, unpacks it, and compiles and runs a program by its files for pkg-config.
# cmake -Dbuild=… -Dprogram=… -Dcompiler=… -Dfolder=… -P deb.cmake
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${CMAKE_CPACK_COMMAND} -G DEB -B ${folder} WORKING_DIRECTORY ${build} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB package ${folder}/libeddy-dev_*.deb)
execute_process(COMMAND dpkg-deb --info ${package} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE control)
if(NOT control MATCHES "Package: libeddy-dev" OR NOT control MATCHES "Maintainer: .*@")
    message(FATAL_ERROR "${control}")
endif()
execute_process(COMMAND dpkg-deb --extract ${package} ${folder}/unpacked COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE licence ${folder}/unpacked/usr/share/doc/*LICENSE)
if(NOT licence)
    message(FATAL_ERROR "${package}: no licence in it")
endif()
set(ENV{PKG_CONFIG_PATH} ${folder}/unpacked/usr/lib/pkgconfig)
execute_process(COMMAND sh -c "${compiler} ${program} $(pkg-config --cflags --libs eddy-storage) -o ${folder}/program && ${folder}/program"
    COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT)
