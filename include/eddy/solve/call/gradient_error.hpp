#pragma once
// A gradient that estimates its own error: taken in dual numbers, whose tangents say how far the
// embedded errors of all steps move it (steppers/embedded_error.hpp). The values are those of the
// gradient without an estimate.
// Test: tests/solve/gradient_error.cpp

#include <algorithm>
#include <cmath>
#include <eddy/solve/call/gradient_workspace.hpp>
#include <eddy/steppers/embedded_error.hpp>
#include <limits>
#include <utility>

namespace eddy::inline v0::detail {

/// The method of a gradient that estimates its error, or does not.
template <class Method, bool estimates>
struct EstimatingMethod {
    using type = Method;
};
template <RungeKuttaMethod Method>
requires has_error_estimate<Method>
struct EstimatingMethod<Method, true> {
    using type = WithEmbeddedError<Method>;
};
template <class Method, bool estimates>
using EstimatingMethodOf = typename EstimatingMethod<Method, estimates>::type;

/// The largest error of a row, relative to the largest number of the row of values.
template <class Real>
[[nodiscard]] double relative_error(const EnsembleView<Real>& errors,
                                    const EnsembleView<const Real>& values, std::ptrdiff_t lane) {
    double error = 0, value = 0;
    for (std::ptrdiff_t i = 0; i < values.num_components; ++i) {
        const double e = std::abs(static_cast<double>(errors(lane, i)));
        if (!(e <= error)) error = e;  // NaN stays
        value = std::max(value, std::abs(static_cast<double>(values(lane, i))));
    }
    return error == 0 ? 0 : error / value;
}

template <class Real>
void copy(const EnsembleView<Real>& from, EnsembleArray<double>& to) {
    to.assign(from.num_lanes, from.num_components, 0);
    for (std::ptrdiff_t i = 0; i < from.num_components; ++i) {
        for (std::ptrdiff_t lane = 0; lane < from.num_lanes; ++lane)
            to(lane, i) = static_cast<double>(from(lane, i));
    }
}

/// An array as it is, or a copy of one that lies on a device.
template <class Memory, class Real>
[[nodiscard]] EnsembleView<const Real> readable(const Memory& memory,
                                                const EnsembleView<Real>& array,
                                                EnsembleArray<Real>& copy) {
    const EnsembleView<const Real> view = ensemble_view(array);
    if (view.first == nullptr || !lies_in(memory, view.first)) return view;
    copy = host_copy(memory, view);
    return std::as_const(copy).view();
}

/// The report's arrays, before the work; no direction but that of the errors.
template <class Spec, class Objective, class Seeds, bool with_times>
void open_errors(GradientWorkspace<Spec, Objective, Seeds, with_times>& workspace) {
    GradientReport& report = workspace.result.report;
    const std::ptrdiff_t lanes = workspace.prepared.num_lanes();
    workspace.prepared.leave_tangents_zero();
    report.error_estimate.y0.assign(lanes, Spec::state_size, 0);
    report.error_estimate.p.assign(Spec::shares_parameters ? 1 : lanes, Spec::parameter_size, 0);
    report.relative_errors.assign(static_cast<std::size_t>(lanes), 0);
}

/// What the tangents of a gradient say, into its report.
template <class Spec, class Objective, class Seeds, bool with_times, class Memory>
void report_errors(GradientWorkspace<Spec, Objective, Seeds, with_times>& workspace,
                   const Memory& memory) {
    using Real = typename Spec::Scalar;
    GradientReport& report = workspace.result.report;
    const auto& target = workspace.target;
    EnsembleArray<Real> y0_copy, p_copy;
    const EnsembleView<const Real> y0 = readable(memory, target.y0, y0_copy);
    const EnsembleView<const Real> p = readable(memory, target.p, p_copy);
    copy(target.y0_tangent, report.error_estimate.y0);
    copy(target.p_tangent, report.error_estimate.p);
    const std::ptrdiff_t lanes = report.num_lanes();
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        double error = relative_error(target.y0_tangent, y0, lane);
        if (!Spec::shares_parameters)
            error = std::fmax(error, relative_error(target.p_tangent, p, lane));
        if (is_failure(report.result(lane))) error = std::numeric_limits<double>::quiet_NaN();
        report.relative_errors[static_cast<std::size_t>(lane)] = error;
    }
}

/// Does the work of a call, with its report of errors where it `estimates` them.
template <bool estimates, class Workspace, class Memory, class Work>
void run_with_errors(Workspace& workspace, const Memory& memory, const Work& work) {
    if constexpr (estimates) {
        open_errors(workspace);
        work();
        report_errors(workspace, memory);
    } else {
        work();
    }
}

}  // namespace eddy::inline v0::detail
