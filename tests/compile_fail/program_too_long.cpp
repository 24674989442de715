// expect: evaluate: this program has more operations than compilers have memory for .9,000 by g\+\+, 20,000 by clang.; write vector operations .* -DEDDY_LARGEST_PROGRAM=<operations>
// Component by component, where one operation on vectors would do.
#define EDDY_LARGEST_PROGRAM 300
#include <eddy/trace/evaluate.hpp>
#include <type_traits>

constexpr auto program = eddy::trace<eddy::Vector<200>>([](const auto& x) {
#ifdef EDDY_BAD
    std::remove_cvref_t<decltype(x)> y{};
    for (int i = 0; i < 200; ++i) y[i] = x[i] * x[(i + 1) % 200] - x[i];
    return y;
#else
    return x * eddy::concat(eddy::slice<1, 199>(x), x[0]) - x;
#endif
});
const auto value = program(eddy::Vec<double, 200>{});
