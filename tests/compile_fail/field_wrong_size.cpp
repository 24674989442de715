// expect: vector field: f\(t, y, p\) must return state_size components
#include <eddy/trace/field.hpp>

struct Oscillator {
#ifdef EDDY_BAD
    static constexpr int state_size = 3, parameter_size = 0;
#else
    static constexpr int state_size = 2, parameter_size = 0;
#endif
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(y[1], -y[0]);
    }
};
constexpr auto program = eddy::trace_field(Oscillator{});
