// Dual numbers on the device: a program's directional derivative, and a plain call of the same
// function.
#include <eddy/ad/dual.hpp>
#include <eddy/trace/evaluate.hpp>

namespace {

struct Reaction {
    constexpr auto operator()(const auto& y, const auto& p) const {
        using std::exp, std::pow, std::sqrt;
        const auto rate = p[0] * exp(-p[1] / y[1]) * pow(y[0], 1.5);
        return eddy::vec(eddy::select(y[0] > 0, -rate, 0), sqrt(p[0]) * rate + eddy::norm(y));
    }
};
inline constexpr auto reaction = eddy::trace<eddy::Vector<2>, eddy::Vector<2>>(Reaction{});

}  // namespace

template <class Real>
__global__ void dual_kernel(const Real* states, const Real* directions, Real* tangents) {
    using Dual = eddy::Dual<Real>;
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const Dual y[] = {{states[2 * lane], directions[2 * lane]},
                      {states[2 * lane + 1], directions[2 * lane + 1]}};
    const Real p[] = {Real(2), Real(0.5)};
    eddy::evaluate<decltype(reaction), Dual>(
        [&]<int output>(int component, const Dual& value) {
            tangents[2 * lane + component] = value.tangent;
        },
        y, p);
}
template __global__ void dual_kernel<float>(const float*, const float*, float*);
template __global__ void dual_kernel<double>(const double*, const double*, double*);

__global__ void dual_arithmetic(const double* x, double* curvature) {
    using Nested = eddy::Dual<eddy::Dual<double>>;
    const Nested y({x[0], 1}, {1, 0});
    const auto z = max(0.5, y) * 2 + pow(y, 3) / sqrt(y) + stop_gradient(y) * y;
    curvature[0] = select(y < 1, z, -z).tangent.tangent;
}
