// expect: CudaFloatTime: events and the adaptive steps of noise are sought in times of double precision; take Cuda
// The times of CudaFloatTime, on the host: of single precision those of lanes of float.
#include <eddy/backends/serial.hpp>
#include <eddy/core/float_float.hpp>
#include <eddy/eddy.hpp>
#include <type_traits>

struct FloatTime : eddy::Serial {
    template <class Real>
    using Time = std::conditional_t<std::is_same_v<Real, float>, eddy::FloatFloat, double>;
};
struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
using Real = float;
#else
using Real = double;
#endif

Real end_of(const eddy::EnsembleArray<Real>& y0, const eddy::EnsembleArray<Real>& p) {
    return eddy::solve(Drop{}, eddy::Tsit5{}, y0, p, {.t1 = 1}, FloatTime{}).y()(0, 0);
}
