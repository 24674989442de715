// expect: trace: the function reads past the end of a vector; check state_size, parameter_size, data_size of a loss, and indices
#include <eddy/trace/field.hpp>

struct Lorenz {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        constexpr int z = 3;
#else
        constexpr int z = 2;
#endif
        return eddy::vec(p[0] * (y[1] - y[0]), y[0] * (p[1] - y[z]) - y[1],
                         y[0] * y[1] - p[2] * y[z]);
    }
};
constexpr auto program = eddy::trace_field(Lorenz{});
