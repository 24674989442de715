# What eddy does and does not do inside a project that contains it, by add_subdirectory or FetchContent.
if(NOT PROJECT_IS_TOP_LEVEL)
    # Warnings of eddy are not of that project: those of headers, as after find_package, and those of sources. Flags that are set for all
    # of a project, -Wall -Werror among them, meet here a compiler or a level of warnings that eddy was not tested with.
    set_target_properties(eddy eddy_storage PROPERTIES SYSTEM ON)
    target_compile_options(eddy PRIVATE -w)
    target_compile_options(eddy_storage PRIVATE -w)
endif()
if(NOT EDDY_INSTALL)
    set_target_properties(eddy_storage PROPERTIES EXCLUDE_FROM_ALL ON)    # built for those that link to it
    install(CODE "message(STATUS \"eddy: not installed with this project, which contains it; configure with -DEDDY_INSTALL=ON to install it too\")")
endif()
