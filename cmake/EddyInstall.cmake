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
    ${CMAKE_CURRENT_LIST_DIR}/EddyBuildType.cmake ${CMAKE_CURRENT_LIST_DIR}/EddyCuda.cmake DESTINATION ${package_dir})
