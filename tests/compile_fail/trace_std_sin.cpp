// expect: trace: a traced value is not a number yet and cannot become a double; where a function of std:: takes it, call eddy's of the same name, such as eddy::sin\(x\) or eddy::lgamma\(x\)
// std::sin takes numbers only; an unqualified call also finds the overload for traced values.
#include <cmath>
#include <eddy/trace/field.hpp>

struct Pendulum {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        return eddy::vec(y[1], -std::sin(y[0]));
#else
        using std::sin;
        return eddy::vec(y[1], -sin(y[0]));
#endif
    }
};
constexpr auto program = eddy::trace_field(Pendulum{});
