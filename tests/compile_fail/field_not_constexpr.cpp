// expect: trace: the function cannot be called at compile time; write constexpr
// A field is called at compile time.
#include <eddy/trace/field.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
#ifndef EDDY_BAD
    constexpr
#endif
        auto
        operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

constexpr auto program = eddy::trace_field(Decay{});
