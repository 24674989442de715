// expect: trace: this traced value is constant or temporary and cannot be assigned to; copy the vector first: auto f = y; f\[0\] =
// An argument is not the function's to change.
#include <eddy/trace/field.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        const auto& f = y;
#else
        auto f = y;
#endif
        f[0] *= -2;
        return f;
    }
};
constexpr auto program = eddy::trace_field(Decay{});
