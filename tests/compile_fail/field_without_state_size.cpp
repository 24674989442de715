// expect: vector field: a member `?static constexpr int state_size`? is missing
#include <eddy/trace/field.hpp>

struct Decay {
#ifndef EDDY_BAD
    static constexpr int state_size = 1;
#endif
    static constexpr int parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const { return -y; }
};
constexpr auto program = eddy::trace_field(Decay{});
