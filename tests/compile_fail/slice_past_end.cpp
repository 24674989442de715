// expect: slice: the range reads past the end of the vector
#include <eddy/trace/field.hpp>

struct Halves {
    static constexpr int state_size = 4, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        constexpr int half = 3;
#else
        constexpr int half = 2;
#endif
        return eddy::concat(eddy::slice<half, 2>(y), -eddy::slice<0, 2>(y));
    }
};
constexpr auto program = eddy::trace_field(Halves{});
