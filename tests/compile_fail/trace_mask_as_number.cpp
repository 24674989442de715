// expect: trace: a traced comparison is not a number; use eddy::select\(condition, 1, 0\)
#include <eddy/trace/field.hpp>

struct Dose {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        return (t < 1) * 2.0 - y;
#else
        return eddy::select(t < 1, 1, 0) * 2.0 - y;
#endif
    }
};
constexpr auto program = eddy::trace_field(Dose{});
