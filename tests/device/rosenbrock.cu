// A step of a stiff method and its adjoint run on the device in registers: Jacobian, factors, solves and
// all.
#include <eddy/eddy.hpp>

#include "support/stiff_equations.hpp"

namespace rosenbrock {

using Field = support::Robertson;
template <class Method>
using StepperOf = typename Method::template Stepper<eddy::OdeTerm<Field>, true>;

template <class Real>
struct Lane {
    Real y[3], p[3], h;
};
template <class Real>
__device__ Lane<Real> load(const Real* values, int lane, int num_lanes) {
    Lane<Real> x;
    for (int i = 0; i < 3; ++i) x.y[i] = values[i * num_lanes + lane];
    for (int i = 0; i < 3; ++i) x.p[i] = values[(3 + i) * num_lanes + lane];
    x.h = values[6 * num_lanes + lane];
    return x;
}

template <class Method, class Real>
__global__ void attempt_kernel(const Real* values, Real* next, Real* error, bool* failed,
                               int num_lanes) {
    using Stepper = StepperOf<Method>;
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const Lane<Real> x = load(values, lane, num_lanes);
    const eddy::Vec<Real, 3> y{{x.y[0], x.y[1], x.y[2]}};
    const Real* const p = x.p;
    const eddy::StepSize<Real, Real> size{x.h, x.h};
    typename Stepper::template Trial<Real> trial;
    Stepper::attempt(eddy::StepInput{Real(0), y, p, size, eddy::NoPath{}}, eddy::NoMemory{}, trial);
    for (int i = 0; i < 3; ++i) next[i * num_lanes + lane] = trial.next[i];
    for (int i = 0; i < 3; ++i) error[i * num_lanes + lane] = trial.error[i];
    failed[lane] = trial.failed;
}

template <class Method, class Real>
__global__ void adjoint_kernel(const Real* values, const Real* next_cotangent, Real* cotangents,
                               int num_lanes) {
    using Stepper = StepperOf<Method>;
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const Lane<Real> x = load(values, lane, num_lanes);
    const eddy::Vec<Real, 3> y{{x.y[0], x.y[1], x.y[2]}};
    const Real* const p = x.p;
    const eddy::StepSize<Real, Real> size{x.h, x.h};
    const eddy::StepInput in{Real(0), y, p, size, eddy::NoPath{}};
    typename Stepper::template Linearization<Real, false, false> of_step;
    Stepper::linearize(in, eddy::NoMemory{}, of_step);
    eddy::Vec<Real, 3> of_next, of_p{};
    for (int i = 0; i < 3; ++i) of_next[i] = next_cotangent[i * num_lanes + lane];
    eddy::NoTimeCotangents unasked;
    const auto of_y = Stepper::pull(in, of_step, of_next, eddy::NoDenseCotangent{}, of_p, unasked);
    for (int i = 0; i < 3; ++i) cotangents[i * num_lanes + lane] = of_y[i];
    for (int i = 0; i < 3; ++i) cotangents[(3 + i) * num_lanes + lane] = of_p[i];
}

template __global__ void attempt_kernel<eddy::Rodas5P>(const double*, double*, double*, bool*, int);
template __global__ void attempt_kernel<eddy::Rodas4>(const float*, float*, float*, bool*, int);
template __global__ void adjoint_kernel<eddy::Rodas5P>(const double*, const double*, double*, int);
template __global__ void adjoint_kernel<eddy::Rodas4>(const float*, const float*, float*, int);
template __global__ void attempt_kernel<eddy::Kvaerno3>(const double*, double*, double*, bool*,
                                                        int);
template __global__ void adjoint_kernel<eddy::Kvaerno3>(const double*, const double*, double*, int);

}  // namespace rosenbrock
