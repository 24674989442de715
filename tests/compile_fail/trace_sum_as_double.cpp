// expect: trace: a traced value is not a number yet and cannot become a double; .* decltype\(y\[0\] \+ y\[0\]\) sum = 0
// A sum of traced values is one itself.
#include <eddy/trace/field.hpp>

struct Mean {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        double sum = 0;
#else
        decltype(y[0] + y[0]) sum = 0;
#endif
        for (int i = 0; i < 2; ++i) sum += y[i];
        return sum / 2 - y;
    }
};
constexpr auto program = eddy::trace_field(Mean{});
