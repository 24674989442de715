# Flags that travel with eddy::eddy: what a program means must not depend on who compiles it.
#
# - No contraction by the compiler: eddy contracts a*b+c itself, once, in the graph (docs/design/semantics.md), so that a
#   recomputed step equals the first one bit for bit.
# - Constant evaluation: traces of large equations need more steps than the compilers' defaults allow.
# - g++ collects garbage from 128 MiB on, whatever the machine has, which took a tenth of its time (Lorenz by Tsit5, a gradient:
#   6.9 s without this, 6.1 s from 512 MiB on); it takes some 190 MiB more at its peak.
# - C++20 in CUDA sources: a feature (cuda_std_20) would be an error in projects that do not enable CUDA.
#
# The lists are plain, so that tests which run a compiler by hand (cmake/EddyTesting.cmake) use the very same flags.
set(eddy_gnu_options -ffp-contract=off -fconstexpr-ops-limit=2000000000 -fconstexpr-loop-limit=10000000 --param=ggc-min-heapsize=524288)
set(eddy_clang_options -ffp-contract=off -fconstexpr-steps=2000000000)
string(JOIN "," eddy_cuda_host_options ${eddy_gnu_options})
set(eddy_cuda_options -std=c++20 --expt-relaxed-constexpr -fmad=false -Xcudafe=--max_cost_constexpr_call=2000000000 -Xcompiler=${eddy_cuda_host_options})

target_compile_options(eddy PUBLIC
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${eddy_gnu_options}>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:${eddy_clang_options}>"
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${eddy_cuda_options}>")
target_compile_definitions(eddy INTERFACE EDDY_UNOPTIMISED)    # EddyBuildType warns

# For programs of ours that are to be right, not fast: -O1, which takes a quarter off, and without the passes of g++ that find little in
# straight-line code: another sixth.
set(eddy_quick_options -O1 "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-pta;-fno-tree-dominator-opts;-fno-tree-dse;-fno-tree-sink;-fno-tree-loop-optimize;\
-fno-if-conversion;-fno-if-conversion2;-fno-tree-ter;-fno-ipa-pure-const;-fno-ipa-reference;-fno-ipa-modref;-fno-ipa-profile;-fno-dse;-fno-dce;\
-fno-move-loop-invariants;-fno-reorder-blocks;-fno-shrink-wrap>")
