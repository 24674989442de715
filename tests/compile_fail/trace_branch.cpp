// expect: trace: a traced comparison cannot steer if, while, && or \?: of C\+\+; use eddy::select\(condition, a, b\)
// Both branches are part of a program, so C++ control flow cannot choose between them.
#include <eddy/trace/field.hpp>

struct Bounce {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        if (y[0] < 0) return eddy::vec(-y[0]);
        return eddy::vec(y[0]);
#else
        return eddy::vec(eddy::select(y[0] < 0, -y[0], y[0]));
#endif
    }
};
constexpr auto program = eddy::trace_field(Bounce{});
