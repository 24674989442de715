// expect: trace: a traced value cannot steer if, while, && or \?: of C\+\+; use eddy::select\(condition, a, b\)
#include <eddy/trace/field.hpp>

struct Damped {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::vec(p[0] ? -y[0] : y[0]);
#else
        return eddy::vec(eddy::select(p[0] != 0, -y[0], y[0]));
#endif
    }
};
constexpr auto program = eddy::trace_field(Damped{});
