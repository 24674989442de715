# Proof that each public header compiles alone, as all_verify_interface_header_sets gives it, in a third of the time.
#
# A header that includes a hub, directly or not, is compiled after the hub, precompiled, and after other headers that it includes, in
# one compilation with them. Nothing passes by that: it reads them in any case, before its own text. What they include stands by itself,
# for these headers are compiled in the same way, without this one.
# Which header is compiled after which is read when CMake runs, as it does in CI: header_hubs.py.
set(eddy_header_hubs
    eddy/core/error.hpp
    eddy/core/numeric.hpp
    eddy/core/pack.hpp
    eddy/trace/functions.hpp
    eddy/trace/evaluate.hpp
    eddy/solve/ask/check_call.hpp
    eddy/solve/lane/problem.hpp
    eddy/solve/group/group_forward.hpp
    eddy/solve/call/redo.hpp
)

# eddy_verify_headers(target…): compiles the headers of these targets with all other targets.
function(eddy_verify_headers)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(names "")
    foreach(target ${ARGN})
        get_target_property(headers ${target} HEADER_SET)
        list(TRANSFORM headers REPLACE "^.*/include/eddy/" "eddy/")
        list(APPEND names ${headers})
    endforeach()
    string(REPLACE ";" "\n" lines "${names}")
    file(WRITE ${PROJECT_BINARY_DIR}/headers/names.txt "${lines}\n")
    execute_process(
        COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/header_hubs.py ${PROJECT_SOURCE_DIR} ${eddy_header_hubs}
        INPUT_FILE ${PROJECT_BINARY_DIR}/headers/names.txt OUTPUT_VARIABLE answer COMMAND_ERROR_IS_FATAL ANY)
    string(STRIP "${answer}" answer)
    string(REPLACE "\n" ";" answer "${answer}")
    foreach(line ${answer})
        separate_arguments(words UNIX_COMMAND "${line}")
        list(POP_FRONT words hub)    # or "-"
        list(GET words -1 last)
        set(source ${PROJECT_BINARY_DIR}/headers/${last}.cpp)
        list(TRANSFORM words REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE includes)
        string(JOIN "" includes ${includes})
        file(CONFIGURE OUTPUT ${source} CONTENT "${includes}")
        string(MAKE_C_IDENTIFIER "eddy_headers_${hub}" library)
        if(NOT TARGET ${library})
            add_library(${library} OBJECT)
            target_link_libraries(${library} PRIVATE ${ARGN})
            target_compile_options(${library} PRIVATE -Wpedantic -Wshadow)    # of projects that see these headers as their own
            target_compile_options(${library} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)    # for ccache
            if(NOT hub STREQUAL "-")
                target_precompile_headers(${library} PRIVATE <${hub}>)
            endif()
        endif()
        target_sources(${library} PRIVATE ${source})
    endforeach()
endfunction()
