// expect: and only one; not a std::tuple or another container
// A right-hand side has one result: a std::tuple of components is none.
#include <eddy/trace/field.hpp>
#include <tuple>

struct Turn {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        return std::tuple(-y[1], y[0]);
#else
        return eddy::vec(-y[1], y[0]);
#endif
    }
};

constexpr auto program = eddy::trace_field(Turn{});
