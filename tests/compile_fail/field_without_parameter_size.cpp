// expect: vector field: a member `?static constexpr int parameter_size`? is missing \(0 where there are no parameters\)
#include <eddy/trace/field.hpp>

struct Decay {
    static constexpr int state_size = 1;
#ifndef EDDY_BAD
    static constexpr int parameter_size = 0;
#endif
    constexpr auto operator()(auto, const auto& y, const auto&) const { return -y; }
};
constexpr auto program = eddy::trace_field(Decay{});
