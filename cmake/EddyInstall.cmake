# Installs headers, libraries and package, so that find_package(eddy) gives the same eddy::eddy and eddy::storage as the build tree.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/eddy)

install(TARGETS eddy eddy_storage EXPORT eddyTargets FILE_SET HEADERS)
install(EXPORT eddyTargets NAMESPACE eddy:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/eddyConfig.cmake.in ${PROJECT_BINARY_DIR}/eddyConfig.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/eddyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/eddyConfig.cmake ${PROJECT_BINARY_DIR}/eddyConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/EddyBuildType.cmake ${CMAKE_CURRENT_LIST_DIR}/EddyCuda.cmake ${CMAKE_CURRENT_LIST_DIR}/EddyMpi.cmake
    ${CMAKE_CURRENT_LIST_DIR}/EddyLinkSources.cmake
    DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# For builds without CMake: pkg-config --cflags --libs eddy. The flags are those of the compiler that built the library.
set(pc_flags ${eddy_gnu_options})
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(pc_flags ${eddy_clang_options})
endif()
list(JOIN pc_flags " " pc_flags)
file(RELATIVE_PATH pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
foreach(package eddy eddy-storage)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The package for Debian and Ubuntu: cpack -G DEB, in the build folder.
set(CPACK_PACKAGE_NAME libeddy-dev)
set(CPACK_PACKAGE_CONTACT "Seed 650f3536 maintainers <maintainers@users.noreply.a-seed-650f3536.example>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ (>= 12) | clang (>= 14)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libeigen3-dev)
if(PROJECT_IS_TOP_LEVEL)
    include(CPack)
endif()
