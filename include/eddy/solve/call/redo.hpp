#pragma once
// The lanes of a gradient whose steps do not carry their derivatives, once more: steps that do are
// found in dual numbers (sensitive_steps.hpp), and loss and gradient are taken along those. A shared
// gradient has left marked lanes out; what they bring now is added to it. One of more than 64
// parameters, in whose sum lanes cannot be told apart, is summed once more over the others. A lane
// whose second solve fails keeps what it had, and its mark.

#include <algorithm>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/sensitive_steps.hpp>
#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// Rows of an array, one after another.
template <class Real>
EnsembleArray<Real> rows_of(const EnsembleView<const Real>& array,
                            const std::vector<std::ptrdiff_t>& lanes) {
    EnsembleArray<Real> rows(static_cast<std::ptrdiff_t>(lanes.size()), array.num_components);
    for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
        for (std::size_t k = 0; k < lanes.size(); ++k)
            rows(static_cast<std::ptrdiff_t>(k), i) = array(lanes[k], i);
    }
    return rows;
}

/// Row k of `rows` into row lanes[k] of `array`; nothing where the array is empty.
template <class Real>
void put_rows(const EnsembleView<Real>& array, const EnsembleView<Real>& rows,
              const std::vector<std::ptrdiff_t>& lanes, const std::vector<char>& takes) {
    for (std::ptrdiff_t i = 0; array.first && i < array.num_components; ++i) {
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            if (takes[k] != 0) array(lanes[k], i) = rows(static_cast<std::ptrdiff_t>(k), i);
        }
    }
}

/// The method whose steps another one takes: see WithEmbeddedError.
template <class Method>
struct PlainMethod {
    using type = Method;
};
template <class Method>
requires requires { typename Method::Plain; }
struct PlainMethod<Method> {
    using type = typename Method::Plain;
};
template <class Method>
using PlainMethodOf = typename PlainMethod<Method>::type;

/// Solves the marked lanes of a GradientWorkspace once more.
template <class GradientWorkspace, class Spec>
class Redo {
    using Real = typename Spec::Scalar;
    using Number = typename Spec::Number;
    using DualNumber = std::conditional_t<Spec::is_dual, Number, Dual<Number>>;
    using DualSpec = SolveSpec<typename Spec::Field, PlainMethodOf<typename Spec::Method>,
                               typename Spec::Controller, DualNumber, Spec::shares_parameters>;
    using Lanes = std::vector<std::ptrdiff_t>;

  public:
    template <class Backend>
    void run(GradientWorkspace& first, const Lanes& marked, const SolveOptions& options,
             const Backend& backend, typename Backend::Kept& kept, const Cancellation& cancelled,
             const char* title) {
        const Problem<Spec>& problem = first.prepared.problem;
        SolveOptions quiet = options;
        quiet.progress = false;
        const EnsembleArray<Real> y0 = rows_of(problem.y0, marked);
        const EnsembleArray<Real> p = of_parameters(problem.p, marked);
        steps_.run(quiet, problem.controller, y0.view(), p.view(), backend, kept, cancelled, title);
        Lanes solved, lanes;  // of the marked ones; of the call
        for (std::size_t k = 0; k < marked.size(); ++k) {
            if (is_failure(steps_.outcomes[k].result)) continue;
            solved.push_back(static_cast<std::ptrdiff_t>(k));
            lanes.push_back(marked[k]);
        }
        if (!lanes.empty()) {
            prepare(first, lanes, options, title);
            // Whatever the errors of given steps are, they are accepted.
            second_.prepared.problem.given = steps_.steps.give(solved);
            for (int i = 0; i < Spec::state_size; ++i)
                second_.prepared.problem.atol[i] = std::numeric_limits<Real>::max() / 16;
            second_.run_kernel(quiet, backend, kept, cancelled, title, false);
            bring(first, lanes, solved);
        }
        if constexpr (Spec::shares_parameters) {
            const Lanes left = left_lanes(first, marked);
            if (left.empty()) return;
            prepare(first, left, options, title);
            second_.run_kernel(quiet, backend, kept, cancelled, title, false);
            add_shared(first);
        }
    }

  private:
    /// The lanes that were not solved once more and have brought nothing to a shared gradient: of the
    /// marked ones; or, of a sum in which lanes cannot be told apart, all, and the sum begins anew.
    static Lanes left_lanes(GradientWorkspace& first, const Lanes& marked) {
        const GradientReport& report = first.result.report;
        Lanes left;
        if constexpr (Spec::sums_by_lane) {
            for (const std::ptrdiff_t lane : marked) {
                if (!report.redone(lane)) left.push_back(lane);
            }
        } else {
            if (first.later_parts.empty()) return left;  // none was: the sum holds all of them
            std::fill(first.shared_sums.begin(), first.shared_sums.end(), typename Spec::Lane(0));
            for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) {
                if (!report.redone(lane) && !is_failure(report.result(lane))) left.push_back(lane);
            }
        }
        return left;
    }

    /// What the lanes of the second solve bring to a shared gradient.
    void add_shared(GradientWorkspace& first) {
        second_.finish_sums({}, "value_and_gradient");
        first.later_parts.resize(static_cast<std::size_t>(Spec::parameter_size),
                                 typename Spec::Lane(0));
        for (int i = 0; i < Spec::parameter_size; ++i) {
            auto& part = first.later_parts[static_cast<std::size_t>(i)];
            if constexpr (Spec::is_dual)
                part = part +
                       typename Spec::Lane{second_.target.p(0, i), second_.target.p_tangent(0, i)};
            else
                part = part + second_.target.p(0, i);
        }
    }

    static EnsembleArray<Real> of_parameters(const EnsembleView<const Real>& p,
                                             const Lanes& lanes) {
        if (Spec::shares_parameters) return EnsembleArray<Real>(p);
        if (Spec::parameter_size == 0)
            return EnsembleArray<Real>(static_cast<std::ptrdiff_t>(lanes.size()), 0);
        return rows_of(p, lanes);
    }

    void prepare(const GradientWorkspace& first, const Lanes& lanes, const SolveOptions& options,
                 const char* title) {
        const Problem<Spec>& problem = first.prepared.problem;
        y0_ = rows_of(problem.y0, lanes);
        p_ = of_parameters(problem.p, lanes);
        if constexpr (Spec::shares_parameters)
            second_.prepared.prepare(options, problem.controller, y0_,
                                     SharedParameters<Real>{std::as_const(p_).view()}, title);
        else
            second_.prepared.prepare(options, problem.controller, y0_, p_, title);
        if constexpr (Spec::is_dual) prepare_tangents(problem, lanes, title);
        second_.prepared.problem.given = {};
        for (int i = 0; i < Spec::state_size; ++i)
            second_.prepared.problem.atol[i] = problem.atol[i];
        data_.clear();
        second_.arrays.clear();
        data_.reserve(first.arrays.size());
        for (const auto& array : first.arrays) {
            if (array.first && array.num_lanes > 1) {
                data_.push_back(rows_of(array, lanes));
                second_.arrays.push_back(std::as_const(data_.back()).view());
            } else {
                second_.arrays.push_back(array);
            }
        }
        second_.seeds = first.seeds;
        second_.seeds.data = second_.arrays.data();
        second_.open_loss();
    }

    void prepare_tangents(const Problem<Spec>& problem, const Lanes& lanes, const char* title) {
        if (!problem.y0_tangent.first) {
            second_.prepared.leave_tangents_zero();
            return;
        }
        y0_tangent_ = rows_of(problem.y0_tangent, lanes);
        p_tangent_ = of_parameters(problem.p_tangent, lanes);
        if constexpr (Spec::shares_parameters)
            second_.prepared.prepare_tangents(
                y0_tangent_, SharedParameters<Real>{std::as_const(p_tangent_).view()}, title);
        else
            second_.prepared.prepare_tangents(y0_tangent_, p_tangent_, title);
    }

    /// Steps at the bound of stability are what a stiff mode in the norm leads to; steps far beyond it
    /// did not see the mode after all.
    static GradientMark mark_of_given(const GradientMark& mark) {
        constexpr double bound = 4 * Spec::Stepper::Watch::threshold;
        return static_cast<double>(mark.ratio) > bound ? mark : GradientMark{};
    }

    void bring(GradientWorkspace& first, const Lanes& lanes, const Lanes& solved) {
        std::vector<char> takes(lanes.size());
        GradientReport& report = first.result.report;
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            LaneOutcome outcome = second_.result.report.lanes()[k];
            if (is_failure(outcome.result)) continue;
            const LaneOutcome& of_steps = steps_.outcomes[static_cast<std::size_t>(solved[k])];
            outcome.accepted = of_steps.accepted;
            outcome.rejected = of_steps.rejected;
            outcome.evaluations += of_steps.evaluations;
            const auto lane = static_cast<std::size_t>(lanes[k]);
            report.lanes()[lane] = outcome;
            report.marks[lane] = mark_of_given(second_.result.report.marks[k]);
            report.was_redone[lane] = 1;
            first.loss(lanes[k], 0) = second_.loss(static_cast<std::ptrdiff_t>(k), 0);
            takes[k] = 1;
        }
        const GradientTarget<Real>&to = first.target, &from = second_.target;
        put_rows(to.y0, from.y0, lanes, takes);
        put_rows(to.y0_tangent, from.y0_tangent, lanes, takes);
        put_rows(to.t0, from.t0, lanes, takes);
        put_rows(to.t1, from.t1, lanes, takes);
        put_rows(to.save_at, from.save_at, lanes, takes);
        if constexpr (!Spec::shares_parameters) {
            put_rows(to.p, from.p, lanes, takes);
            put_rows(to.p_tangent, from.p_tangent, lanes, takes);
        }
        if constexpr (Spec::shares_parameters) add_shared(first);
        add(report.counters, second_.result.report.counters);
        report.evaluations_back += second_.result.report.evaluations_back;
        report.bytes_kept += second_.result.report.bytes_kept;
    }
    GradientWorkspace second_;
    SensitiveSteps<DualSpec> steps_;
    EnsembleArray<Real> y0_, p_, y0_tangent_, p_tangent_;
    std::vector<EnsembleArray<Real>> data_;
};

}  // namespace eddy::inline v0::detail
