// expect: trace: == and != do not compare two vectors; compare their components
#include <eddy/trace/field.hpp>

struct Meeting {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::select(y == p, 0, y);
#else
        return eddy::select(y - p == 0, 0, y);
#endif
    }
};
constexpr auto program = eddy::trace_field(Meeting{});
