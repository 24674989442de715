# The kinds of tests. Each function registers CTest tests under one label; `ctest -L label` runs a kind alone.

# The quick suite is what carries the label `quick` too, and the target `quick` builds what it runs, nothing else. scripts/test does both;
# CONTRIBUTING.md says what belongs there. A test is in it where `eddy_test` says QUICK, another where this function names it.
# eddy_quick(TESTS test … [TARGETS target …]): these tests, of this folder, with all that they run.
add_custom_target(quick)
function(eddy_quick)
    cmake_parse_arguments(arg "" "" "TESTS;TARGETS" ${ARGN})
    set_property(TEST ${arg_TESTS} APPEND PROPERTY LABELS quick)
    if(arg_TARGETS)
        add_dependencies(quick ${arg_TARGETS})
    endif()
endfunction()

# eddy_test_flags(target): eddy_quick_options and the level of this build (EDDY_TEST_LEVEL), as most tests are compiled; and what ccache
# asks for where headers are precompiled, beside CCACHE_SLOPPINESS of the presets.
function(eddy_test_flags target)
    target_compile_options(${target} PRIVATE ${eddy_quick_options}
        $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_compile_definitions(${target} PRIVATE EDDY_CHECK_ITSELF)    # nothing is inlined by force: a sixth less for g++
    if(test_level)
        target_compile_options(${target} PRIVATE -march=${test_level})
    endif()
endfunction()

option(EDDY_TEST_UNSANITIZED_ALONE "Leave out the tests that a build with sanitizers compiles by the same compiler" OFF)
option(EDDY_TEST_LEFT_TO_SANITIZERS "Leave out the tests that a build with sanitizers compiles by another compiler, but those of the quick suite that none compiles by this" OFF)

# eddy_test(name LABEL label SOURCES a.cpp … [LIBRARIES …] [LEVEL level] [QUICK] [THREADS] [OPTIMISED] [UNSANITIZED] [ONE_COMPILER]): one
# Catch2 program, one CTest test, compiled for the level of this build (EDDY_TEST_LEVEL) or for its own. Tests take long to compile and no time to run, so:
# QUICK: in the quick suite; the others are in `scripts/test --all` only.
# THREADS: .ci/run builds it with the thread sanitizer too, by g++.
# OPTIMISED: as the build type says, for what an optimiser could change; the others by eddy_quick_options.
# UNSANITIZED: left out of builds with sanitizers, for what runs straight through registers: it allocates and indexes nothing that
# another test does not.
# ONE_COMPILER: built by g++ alone, for what is right by any compiler or by none: the mathematics of methods, counts of nodes and bytes,
# messages. That clang compiles the templates is seen in other tests.
function(eddy_test name)
    cmake_parse_arguments(arg "QUICK;THREADS;OPTIMISED;UNSANITIZED;ONE_COMPILER" "LABEL;LEVEL" "SOURCES;LIBRARIES" ${ARGN})
    if((arg_UNSANITIZED AND CMAKE_CXX_FLAGS MATCHES "-fsanitize") OR
            (arg_ONE_COMPILER AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU") OR
            (EDDY_TEST_UNSANITIZED_ALONE AND NOT arg_UNSANITIZED AND NOT arg_OPTIMISED) OR
            (EDDY_TEST_LEFT_TO_SANITIZERS AND NOT arg_UNSANITIZED AND NOT arg_ONE_COMPILER AND NOT arg_OPTIMISED AND
                (arg_THREADS OR NOT arg_QUICK)))
        return()
    endif()
    add_executable(test_${name} ${arg_SOURCES})
    target_link_libraries(test_${name} PRIVATE eddy_test_main ${arg_LIBRARIES})
    if(arg_OPTIMISED)
        set(level ${test_level})
        if(arg_LEVEL)
            set(level ${arg_LEVEL})
        endif()
        if(level)
            target_compile_options(test_${name} PRIVATE -march=${level})
        endif()
    else()
        eddy_test_flags(test_${name})
        set(headers eddy_test_main)
        if(EDDY_TEST_PRECOMPILE_CALLS)    # tests/CMakeLists.txt
            foreach(source ${arg_SOURCES})
                file(STRINGS ${source} calls REGEX "#include (<eddy/(eddy.hpp|backends/|solve/call/)|\"solve/)")
                if(calls)
                    set(headers eddy_test_headers_of_calls)
                endif()
            endforeach()
        endif()
        target_precompile_headers(test_${name} REUSE_FROM ${headers})
    endif()
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT 600)
    if(arg_QUICK)
        eddy_quick(TESTS ${name} TARGETS test_${name})
    endif()
endfunction()

# eddy_python_test(name script.py): one script, one CTest test; it leaves no byte code beside the sources. It asks no compiler, so that
# builds with sanitizers, and those of what they leave out, need not run it again. It takes a second or two: it is in the quick suite.
function(eddy_python_test name script)
    if(EDDY_TEST_UNSANITIZED_ALONE OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        return()
    endif()
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script})
    set_tests_properties(${name} PROPERTIES LABELS "unit;quick" TIMEOUT 60)
endfunction()

# The flags and include folders of eddy::eddy, for tests that run a compiler by hand. `test_include_flags` is a generator
# expression: give it to add_test with COMMAND_EXPAND_LISTS.
set(test_include_flags "-I$<JOIN:$<TARGET_PROPERTY:eddy_test_main,INCLUDE_DIRECTORIES>,;-I>")
separate_arguments(test_cxx_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
list(PREPEND test_cxx_flags -std=c++20)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND test_cxx_flags ${eddy_gnu_options})
else()
    list(APPEND test_cxx_flags ${eddy_clang_options})
endif()

# eddy_compile_fail_test([ALONE] misuse.cpp …): each file holds a mistake under `#ifdef EDDY_BAD` beside its good twin, and says in its
# first line, `// expect: regular expression`, what the compiler tells of the mistake. The good twins compile, with g++, all in one test;
# each bad one does not, and the message is the expected one, with every compiler. The library's headers are compiled once for all, but with ALONE.
function(eddy_compile_fail_test)
    cmake_parse_arguments(arg "ALONE" "" "" ${ARGN})
    set(headers ${PROJECT_BINARY_DIR}/tests/compile_fail/headers.hpp)
    if(NOT TARGET eddy_compile_fail_headers)
        add_custom_target(eddy_compile_fail_headers)    # the mark that their test is there
        add_test(NAME compile_fail.headers COMMAND_EXPAND_LISTS
            COMMAND ${CMAKE_CXX_COMPILER} ${test_cxx_flags} "${test_include_flags}" -w -x c++-header
                ${PROJECT_SOURCE_DIR}/include/eddy/eddy.hpp -o ${headers}.gch)
        set_tests_properties(compile_fail.headers PROPERTIES LABELS compile_fail TIMEOUT 300 FIXTURES_SETUP compile_fail_headers)
    endif()
    set(include_headers -include ${headers})
    if(arg_ALONE)
        unset(include_headers)
    endif()
    set(check ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/compile_fail/check.py)
    # What follows the first error is of no interest, and takes half the time.
    set(compiler ${CMAKE_CXX_COMPILER} ${test_cxx_flags} -fsyntax-only -Wfatal-errors ${include_headers})
    set(tests "")
    foreach(source ${arg_UNPARSED_ARGUMENTS})
        cmake_path(GET source STEM stem)
        add_test(NAME compile_fail.${stem} COMMAND_EXPAND_LISTS
            COMMAND ${check} bad ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${compiler} "${test_include_flags}")
        list(APPEND tests compile_fail.${stem})
    endforeach()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(GET arg_UNPARSED_ARGUMENTS 0 source)
        cmake_path(GET source STEM first)
        list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
        add_test(NAME compile_fail.good.${first} COMMAND_EXPAND_LISTS
            COMMAND ${check} good ${CMAKE_CURRENT_BINARY_DIR}/good.${first}.cpp ${arg_UNPARSED_ARGUMENTS} -- ${compiler} "${test_include_flags}")
        list(APPEND tests compile_fail.good.${first})
    endif()
    set_tests_properties(${tests} PROPERTIES LABELS compile_fail TIMEOUT 300 FIXTURES_REQUIRED compile_fail_headers)
endfunction()

# eddy_device_compile_test(name SOURCES kernels.cu … [MAX_REGISTERS kernel=limit …] [MAX_STACK kernel=bytes …] [MAX_SPILL kernel=bytes …]
# [MAX_ROUND kernel:loop=instructions … kernel:loop.double=instructions of this kind …] [ARCHITECTURE sm_80] [HOST]):
# compiles for sm_90, or another, with the flags of eddy::eddy, prints what each kernel needs, and fails above a limit; without one, on any stack or
# spill. Several sources are one compilation. HOST: the host's side is compiled as well. `kernel` is any part of the demangled name; the limit holds for every kernel that it names. Skipped where there is no nvcc.
function(eddy_device_compile_test name)
    cmake_parse_arguments(arg "HOST" "ARCHITECTURE" "SOURCES;MAX_REGISTERS;MAX_STACK;MAX_SPILL;MAX_ROUND" ${ARGN})
    list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(POP_FRONT arg_SOURCES first)
    list(TRANSFORM arg_SOURCES PREPEND --with=)
    list(TRANSFORM arg_ARCHITECTURE PREPEND --architecture=)
    list(TRANSFORM arg_MAX_REGISTERS PREPEND --max-registers=)
    list(TRANSFORM arg_MAX_STACK PREPEND --max-stack=)
    list(TRANSFORM arg_MAX_SPILL PREPEND --max-spill=)
    list(TRANSFORM arg_MAX_ROUND PREPEND --max-round=)
    set(host "")
    if(arg_HOST)
        set(host --host)
    endif()
    add_test(NAME device_compile.${name} COMMAND_EXPAND_LISTS
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/device/check.py
            ${host} ${arg_SOURCES} ${arg_ARCHITECTURE} ${arg_MAX_REGISTERS} ${arg_MAX_STACK} ${arg_MAX_SPILL} ${arg_MAX_ROUND} --nvdisasm=${EDDY_NVDISASM} ${first}
            ${EDDY_NVCC} ${eddy_cuda_options} "${test_include_flags}")
    set_tests_properties(device_compile.${name} PROPERTIES LABELS device_compile SKIP_RETURN_CODE 4 TIMEOUT 600)
endfunction()

# eddy_device_test(name program.cu [options of tests/device/run.py]): compiled and linked by nvcc, and run; skipped where there is no
# nvcc, or no device; left out of builds with sanitizers, whose library nvcc would link without their runtime.
function(eddy_device_test name source)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        return()
    endif()
    add_test(NAME device.${name} COMMAND_EXPAND_LISTS
        COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/device/run.py ${ARGN} ${source} $<TARGET_FILE:eddy>
            ${EDDY_NVCC} ${eddy_cuda_options} -Xcompiler=-march=x86-64-v3 "${test_include_flags}")
    set_tests_properties(device.${name} PROPERTIES LABELS device SKIP_RETURN_CODE 4 TIMEOUT 600)
endfunction()
find_program(EDDY_NVDISASM nvdisasm PATHS /usr/local/cuda/bin DOC "disassembler of CUDA, which counts instructions: in the toolkit, or
    nvidia-cuda-nvdisasm of PyPI")
find_program(EDDY_NVCC nvcc PATHS /usr/local/cuda/bin DOC "CUDA compiler, for the device_compile tests")
