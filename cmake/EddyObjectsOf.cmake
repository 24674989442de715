# A build for tests alone need not compile the library again: EDDY_OBJECTS_OF is the folder of another build of these sources, whose objects
# it takes, of one ABI whoever compiles. Where EDDY_OBJECTS_LIKE names the texts of two levels, the others are compiled: with the thread
# sanitizer, for these do arithmetic of a tile and start no threads, and inside a project that shows how sources are compiled there.
# .ci/run names the folder, after that build; nobody looks whether it is of today.
set(EDDY_OBJECTS_OF "" CACHE PATH "Build folder of the same sources whose objects are taken in place of compiling the library")
set(EDDY_OBJECTS_LIKE "/" CACHE STRING "Regular expression: of which sources objects are taken")
if(EDDY_OBJECTS_OF)
    foreach(target eddy eddy_storage)
        get_target_property(sources ${target} SOURCES)
        list(FILTER sources INCLUDE REGEX "${EDDY_OBJECTS_LIKE}")
        set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
        file(GLOB_RECURSE objects ${EDDY_OBJECTS_OF}/CMakeFiles/${target}.dir/*.o)
        list(FILTER objects INCLUDE REGEX "${EDDY_OBJECTS_LIKE}")
        if(sources AND NOT objects)
            message(FATAL_ERROR "EDDY_OBJECTS_OF: no objects of ${target} in '${EDDY_OBJECTS_OF}'; build it first, or leave the folder out")
        endif()
        target_sources(${target} PRIVATE ${objects})
        set_source_files_properties(${objects} TARGET_DIRECTORY ${target} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    endforeach()
endif()
