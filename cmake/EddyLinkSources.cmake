# eddy_link_sources(target source…): links a target to eddy, and gives eddy's flags to these sources only, which are those that include
# eddy. target_link_libraries(target eddy::eddy) gives them to all sources of the target, and further to those that link to it
# PUBLIC: -ffp-contract=off among them, under which other code does without fused multiply-adds.
function(eddy_link_sources target)
    if(NOT ARGN)
        message(FATAL_ERROR "eddy_link_sources: no sources of ${target} are named; name those that include eddy")
    endif()
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:eddy::eddy>)
    target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:eddy::eddy,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_features(${target} PRIVATE cxx_std_20)
    get_target_property(options eddy::eddy INTERFACE_COMPILE_OPTIONS)
    get_target_property(definitions eddy::eddy INTERFACE_COMPILE_DEFINITIONS)
    foreach(source ${ARGN})
        set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS "${options}")
        set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS "${definitions}")
    endforeach()
endfunction()
