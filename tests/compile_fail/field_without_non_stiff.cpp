// expect: vector field: of stiff\(t, y, p\) and non_stiff\(t, y, p\) one is missing
// A field in parts has both.
#include <eddy/trace/field.hpp>

struct Relaxation {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto stiff(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
#ifdef EDDY_BAD
    constexpr auto slow(auto t, const auto&, const auto& p) const { return eddy::vec(p[0] * t); }
#else
    constexpr auto non_stiff(auto t, const auto&, const auto& p) const {
        return eddy::vec(p[0] * t);
    }
#endif
};
constexpr auto program = eddy::trace_field(Relaxation{});
