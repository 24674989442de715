// expect: trace: vectors of different sizes are combined; operands must have one size or be scalars
#include <eddy/trace/field.hpp>

struct Relaxation {
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return p - y;
#else
        return eddy::concat(p, 0) - y;
#endif
    }
};
constexpr auto program = eddy::trace_field(Relaxation{});
