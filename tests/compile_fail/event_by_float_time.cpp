// expect: CudaFloatTime: events and the adaptive steps of noise are sought in times of double precision; take Cuda
#include <eddy/core/float_float.hpp>
#include <eddy/eddy.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
using Clock = eddy::FloatFloat;
#else
using Clock = double;
#endif

using Spec = eddy::detail::SolveSpec<Drop, eddy::Tsit5, eddy::PIDController, float, false, Clock>;
static_assert(Spec::has_event);
