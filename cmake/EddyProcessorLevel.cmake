# Which instructions the tests may use. A level of x86-64 (https://gitlab.com/x86-psABIs/x86-64-ABI) stands for many processors:
# packs hold 2, 4 or 8 doubles with v2, v3 and v4, and from v3 on products are fused. Each build of .ci/run takes another.
include(CheckCXXSourceRuns)

# eddy_runnable_levels(variable): the levels, lowest first, that this compiler knows and this processor runs; none where it is no
# x86-64, and none in a cross build. Asked once a build folder.
function(eddy_runnable_levels variable)
    set(x86-64-v2 sse4.2 popcnt)
    set(x86-64-v3 ${x86-64-v2} avx2 bmi bmi2 fma)
    set(x86-64-v4 ${x86-64-v3} avx512f avx512bw avx512cd avx512dq avx512vl)
    set(levels "")
    set(CMAKE_REQUIRED_QUIET ON)
    foreach(level x86-64-v2 x86-64-v3 x86-64-v4)
        if(CMAKE_CROSSCOMPILING)
            break()
        endif()
        list(TRANSFORM ${level} REPLACE "(.+)" "__builtin_cpu_supports(\"\\1\")" OUTPUT_VARIABLE has_all)
        list(JOIN has_all " && " has_all)
        set(CMAKE_REQUIRED_FLAGS -march=${level})
        check_cxx_source_runs("int main() { return ${has_all} ? 0 : 1; }" EDDY_RUNS_${level})
        if(NOT EDDY_RUNS_${level})
            break()
        endif()
        list(APPEND levels ${level})
    endforeach()
    set(${variable} "${levels}" PARENT_SCOPE)
endfunction()

# eddy_nearest_level(variable wanted levels…): the highest of `levels` up to `wanted`, or nothing.
function(eddy_nearest_level variable wanted)
    set(nearest "")
    foreach(level ${ARGN})
        if(level STRLESS_EQUAL wanted)
            set(nearest ${level})
        endif()
    endforeach()
    set(${variable} "${nearest}" PARENT_SCOPE)
endfunction()
