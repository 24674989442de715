// expect: dense: the weights must have \|b\| times \|x\| components, row-major
#include <eddy/trace/field.hpp>

struct Layer {
    static constexpr int state_size = 2, parameter_size = 6;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::dense(eddy::slice<0, 3>(p), eddy::slice<4, 2>(p), y);
#else
        return eddy::dense(eddy::slice<0, 4>(p), eddy::slice<4, 2>(p), y);
#endif
    }
};
constexpr auto program = eddy::trace_field(Layer{});
