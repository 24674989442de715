// expect: vector field: stiff\(t, y, p\) and non_stiff\(t, y, p\) read no inputs
// A method that takes the parts of a field would leave u out.
#include <eddy/trace/field.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0]);
    }
#ifdef EDDY_BAD
    constexpr auto stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
    constexpr auto non_stiff(auto, const auto& y, const auto&) const { return 0 * y; }
#endif
};

static_assert(eddy::detail::check_field<Driven>());
