// expect: trace: the function returns nothing
// A field whose return is forgotten.
#include <eddy/trace/field.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto slope = eddy::vec(-(p[0] * y[0]));
#ifdef EDDY_BAD
        (void)slope;
#else
        return slope;
#endif
    }
};

constexpr auto program = eddy::trace_field(Decay{});
