// Programs and what is derived from them run on the device as they are: values, pullbacks,
// tangents, Jacobians and Hessian products, in float, double and dual numbers, without stack or
// spills.
#include <eddy/eddy.hpp>

#include "support/equations.hpp"

struct Potential {
    constexpr auto operator()(const auto& x) const {
        using eddy::exp, eddy::select, eddy::tanh;
        return eddy::dot(x, x) * exp(-x[0]) + select(x[1] < x[2], tanh(x[1]), eddy::sqrt(x[2]));
    }
};

constexpr auto lorenz = eddy::trace_field(support::Lorenz{});
constexpr auto potential = eddy::trace<eddy::Vector<3>>(Potential{});
using Field = std::remove_const_t<decltype(lorenz)>;
using FieldPullback = decltype(eddy::vjp<1, 2>(lorenz));
using FieldTangent = decltype(eddy::jvp<1>(lorenz));
using FieldJacobian = decltype(eddy::jacobian<1>(lorenz))::Values;
using PotentialGradient = decltype(eddy::gradient(potential));
using PotentialHessian = decltype(eddy::hvp<0>(potential));

/// Component i of one lane: x[i · num_lanes].
template <class Real>
struct Lane {
    Real* x;
    int num_lanes;
    EDDY_HD Real& operator[](int i) const { return x[i * num_lanes]; }
};

/// Evaluates P and writes its results one after another into `out`.
template <class P, class Real, class... Arguments>
EDDY_HD void evaluate_lane(const Lane<Real>& out, const Arguments&... arguments) {
    int begin = 0;
    eddy::evaluate<P, Real>(
        [&]<int output>(int component, const Real& value) {
            if (output > 0 && component == 0)
                begin += P::code.outputs[output > 0 ? output - 1 : 0].size;
            out[begin + component] = value;
        },
        arguments...);
}

template <class P, class Real>
__global__ void field_kernel(Real* out, Real* y, Real* p, Real* third, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const Lane<Real> to{out + lane, num_lanes}, state{y + lane, num_lanes},
        parameters{p + lane, num_lanes};
    if constexpr (P::code.num_arguments() == 3) {
        evaluate_lane<P, Real>(to, 0.0, state, parameters);
    } else {
        evaluate_lane<P, Real>(to, 0.0, state, parameters, Lane<Real>{third + lane, num_lanes});
    }
}

template <class P, class Real>
__global__ void potential_kernel(Real* out, Real* x, Real* direction, int num_lanes) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    const Lane<Real> to{out + lane, num_lanes}, at{x + lane, num_lanes};
    if constexpr (P::code.num_arguments() == 1) {
        evaluate_lane<P, Real>(to, at);
    } else {
        evaluate_lane<P, Real>(to, at, Lane<Real>{direction + lane, num_lanes});
    }
}

template <class Real>
using FieldKernel = void (*)(Real*, Real*, Real*, Real*, int);
template <class Real>
using PotentialKernel = void (*)(Real*, Real*, Real*, int);

template <class Real>
inline constexpr FieldKernel<Real> field_kernels[] = {
    field_kernel<Field, Real>, field_kernel<FieldPullback, Real>, field_kernel<FieldTangent, Real>,
    field_kernel<FieldJacobian, Real>};
template <class Real>
inline constexpr PotentialKernel<Real> potential_kernels[] = {
    potential_kernel<PotentialGradient, Real>, potential_kernel<PotentialHessian, Real>};

/// Names the kernels, so that they are compiled.
const void* kernels[] = {&field_kernels<float>,
                         &field_kernels<double>,
                         &field_kernels<eddy::Dual<float>>,
                         &field_kernels<eddy::Dual<double>>,
                         &potential_kernels<float>,
                         &potential_kernels<double>,
                         &potential_kernels<eddy::Dual<double>>};
