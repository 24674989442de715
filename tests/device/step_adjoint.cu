// The discrete adjoint of one Tsit5 step of Lorenz stays in registers: no spill, no stack.
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/explicit_rk.hpp>

#include "support/equations.hpp"

using Stepper = eddy::ExplicitRungeKutta<support::Lorenz, eddy::Tsit5>;

/// One lane of structure-of-arrays data: component i is x[i · num_lanes].
template <class Real>
struct Strided {
    Real* x;
    int num_lanes;
    EDDY_HD Real& operator[](int i) const { return x[i * num_lanes]; }
};

template <class Real>
EDDY_HD eddy::Vec<Real, 3> load(const Strided<Real>& x) {
    return {{x[0], x[1], x[2]}};
}

template <class Real>
EDDY_HD void pull_back_lane(const Strided<Real>& y, const Strided<Real>& p,
                            const Strided<Real>& cotangent, const Strided<Real>& p_cotangent,
                            Real t, Real dt) {
    eddy::Vec<Real, 3> p_contribution{};
    const eddy::Vec<Real, 3> pulled =
        Stepper::pullback(t, load(y), load(p), dt, load(cotangent), p_contribution);
    for (int i = 0; i < 3; ++i) {
        cotangent[i] = pulled.data[i];
        p_cotangent[i] += p_contribution.data[i];
    }
}

template <class Real>
__global__ void step_adjoint(Real* y, Real* p, Real* cotangent, Real* p_cotangent, int num_lanes,
                             Real t, Real dt) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    pull_back_lane<Real>({y + lane, num_lanes}, {p + lane, num_lanes},
                         {cotangent + lane, num_lanes}, {p_cotangent + lane, num_lanes}, t, dt);
}

template __global__ void step_adjoint<float>(float*, float*, float*, float*, int, float, float);
template __global__ void step_adjoint<double>(double*, double*, double*, double*, int, double,
                                              double);
