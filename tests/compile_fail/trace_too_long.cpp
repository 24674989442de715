// expect: trace: this function has more operations than compilers have memory for .9,000 by g\+\+, 20,000 by clang.; write vector operations .* -DEDDY_LARGEST_PROGRAM=<operations>
// So many that the passes are not even begun, which would take most of that memory.
#define EDDY_LARGEST_PROGRAM 300
#include <eddy/trace/field.hpp>
#include <type_traits>

struct Ring {
    static constexpr int n = 400, state_size = n, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        std::remove_cvref_t<decltype(y)> dy{};
        for (int i = 0; i < n; ++i) dy[i] = y[i] * y[(i + 1) % n] - y[i];
        return dy;
#else
        return y * eddy::concat(eddy::slice<1, n - 1>(y), y[0]) - y;
#endif
    }
};
constexpr auto program = eddy::trace_field(Ring{});
