# Flags that travel with eddy::eddy: what a program means must not depend on who compiles it.
#
# - No contraction by the compiler: eddy contracts a*b+c itself, once, in the graph (docs/design/semantics.md), so that a
#   recomputed step equals the first one bit for bit.
# - Constant evaluation: traces of large equations need more steps than the compilers' defaults allow.
set(cxx_gnu $<COMPILE_LANG_AND_ID:CXX,GNU>)
set(cxx_clang $<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>)
set(cuda $<COMPILE_LANG_AND_ID:CUDA,NVIDIA>)
target_compile_options(eddy PUBLIC
    $<${cxx_gnu}:-ffp-contract=off;-fconstexpr-ops-limit=2000000000;-fconstexpr-loop-limit=10000000>
    $<${cxx_clang}:-ffp-contract=off;-fconstexpr-steps=2000000000>
    "$<${cuda}:-fmad=false;-Xcudafe=--max_cost_constexpr_call=2000000000;SHELL:-Xcompiler=-ffp-contract=off,-fconstexpr-ops-limit=2000000000,-fconstexpr-loop-limit=10000000>")
