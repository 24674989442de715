// expect: trace: an operation is applied to literals only; compute it on plain numbers
// What has met no argument belongs to no program yet.
#include <eddy/trace/field.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        decltype(y[0] * y[0]) rate = 2;
#ifdef EDDY_BAD
        rate = eddy::sqrt(rate);
#else
        rate += y[0];
        rate = eddy::sqrt(rate);
#endif
        return -rate * y;
    }
};
constexpr auto program = eddy::trace_field(Decay{});
