// expect: vector field: a field with input_size must be callable as
// u is the fourth argument.
#include <eddy/trace/field.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1, input_size = 1;
#ifdef EDDY_BAD
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
#else
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0]);
    }
#endif
};

static_assert(eddy::detail::check_field<Driven>());
