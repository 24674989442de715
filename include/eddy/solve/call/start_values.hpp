#pragma once
// Initial values by start_from: computed before a call, which then has an array of them, and pulled back after it.
// Lanes one after another, in plain or dual numbers.
// Test: tests/solve/start_values.cpp

#include <eddy/ad/dual.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/own_times.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/ask/start_from.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/lane/tangent_parts.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/trace.hpp>

namespace eddy::inline v0::detail {

template <class Field, class Function>
using StartProgram =
    decltype(trace<Scalar, Vector<Field::parameter_size>>(StartOfTime<Function>{}));
/// The traced function, checked.
template <class Field, class Function>
consteval bool check_start() {
    using Traced = StartProgram<Field, Function>;
    if constexpr (!std::is_void_v<Traced>) {
        constexpr bool fits = Traced::graph.outputs[0].size == Field::state_size;
        static_assert(fits, "start_from: the function must return as many numbers as state_size");
        return fits;
    }
    return false;
}

template <class Real>
void require_parameters(const GivenParameters<Real>& p, std::ptrdiff_t lanes, std::ptrdiff_t size,
                        const char* name, const char* where) {
    if (p.has_table)
        require_table(p.table, lanes, size, name, where);
    else
        require_shape(array_shape(p.rows), {p.is_shared ? 1 : lanes, size}, name, where);
}

/// One trajectory's parameters, in plain or dual numbers.
template <class Lane>
struct LaneGiven {
    using Real = ScalarOf<Lane>;
    const GivenParameters<Real>& values;
    const GivenParameters<Real>* tangents;
    std::ptrdiff_t lane;

    [[nodiscard]] Lane operator[](int i) const {
        return number_of_parts<Lane>(values(lane, i), [&] { return (*tangents)(lane, i); });
    }
};

/// When a trajectory starts.
[[nodiscard]] inline double time_of_start(const TimeOption& t0, std::ptrdiff_t lane) {
    return t0.is_own() ? t0.own().values[static_cast<std::size_t>(lane)] : double(t0);
}

/// Adds rows of trajectories, what a start brings to their parameters, to a gradient of the parameters that were given.
template <class Real>
void add_rows_of_start(const GivenParameters<Real>& p, Gradient<Real>& gradient,
                       EnsembleArray<Real>& rows) {
    const auto add_up = [](EnsembleArray<Real>& sum, const EnsembleArray<Real>& more) {
        for (std::ptrdiff_t i = 0; i < sum.cols(); ++i) {
            for (std::ptrdiff_t row = 0; row < sum.rows(); ++row) sum(row, i) += more(row, i);
        }
    };
    if (p.has_table) {
        EnsembleArray<Real> shared;
        add_rows_of_table(p.table, rows, shared);
        add_up(gradient.shared, shared);
    }
    if (!p.is_shared) return add_up(gradient.p, rows);
    for (std::ptrdiff_t i = 0; i < rows.cols(); ++i)
        gradient.p(0, i) +=
            sum_over_lanes<Real>(rows.rows(), [&](std::ptrdiff_t lane) { return rows(lane, i); });
}

template <class Field, class Function, class Real>
class StartValues {
    using Program = StartProgram<Field, Function>;
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;

  public:
    EnsembleArray<Real> y0, tangent;

    /// The values of all trajectories; with `along`, their derivative in that direction of the parameters too.
    StartValues(const TimeOption& t0, const GivenParameters<Real>& p,
                const GivenParameters<Real>* along, std::ptrdiff_t num_lanes, const char* where)
        : t0_(&t0), p_(p), along_(along) {
        const std::ptrdiff_t lanes = lanes_of_start(t0, p.num_lanes(), num_lanes, where);
        require_parameters(p, lanes, parameter_size, "p", where);
        if (along) require_parameters(*along, lanes, parameter_size, "the tangent of p", where);
        y0.assign(lanes, state_size, Real(0));
        if (along) tangent.assign(lanes, state_size, Real(0));
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            along ? set<Dual<Real>>(lane) : set<Real>(lane);
    }

    /// Adds what the cotangents of the values bring to p and t0.
    void pull(Gradient<Real>& gradient, bool with_times) const {
        pull<Real>(gradient, nullptr, with_times);
    }
    void pull(Gradient<Real>& gradient, Gradient<Real>& product) const {
        pull<Dual<Real>>(gradient, &product, false);
    }

  private:
    [[nodiscard]] double time_of(std::ptrdiff_t lane) const { return time_of_start(*t0_, lane); }
    template <class Lane>
    void set(std::ptrdiff_t lane) {
        const auto sink = [&]<int output>(int i, const Lane& value) {
            y0(lane, i) = primal(value);
            if (along_) tangent(lane, i) = tangent_or_zero(value);
        };
        evaluate<Program, Lane>(sink, time_of(lane), LaneGiven<Lane>{p_, along_, lane});
    }
    template <class Lane>
    void pull(Gradient<Real>& gradient, Gradient<Real>* product, bool with_times) const {
        using Pullback = decltype(vjp(Program{}));
        EnsembleArray<Real> rows(y0.rows(), parameter_size),
            along(product ? y0.rows() : 0, parameter_size);
        for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
            Vec<Lane, state_size> cotangent{};
            bool is_zero = true;  // as of a lane that failed, whose start may have no derivative
            for (int i = 0; i < state_size; ++i) {
                cotangent[i] = number<Lane>(gradient.y0, product, lane, i);
                is_zero =
                    is_zero && primal(cotangent[i]) == 0 && tangent_or_zero(cotangent[i]) == 0;
            }
            if (is_zero) continue;
            const auto sink = [&]<int output>(int i, const Lane& value) {
                if constexpr (output == 1) {
                    rows(lane, i) = primal(value);
                    if (product) along(lane, i) = tangent_or_zero(value);
                } else if (with_times) {
                    EnsembleArray<Real>& of_t0 = gradient.t0;
                    of_t0(lane, 0) += primal(value);
                }
            };
            evaluate<Pullback, Lane>(sink, time_of(lane), LaneGiven<Lane>{p_, along_, lane},
                                     cotangent);
        }
        add_rows_of_start(p_, gradient, rows);
        if (product) add_rows_of_start(p_, *product, along);
    }
    template <class Lane>
    static Lane number(const EnsembleArray<Real>& values, const Gradient<Real>* product,
                       std::ptrdiff_t lane, int i) {
        return number_of_parts<Lane>(values(lane, i), [&] { return product->y0(lane, i); });
    }

    const TimeOption* t0_;  // of the options of the call, which live longer
    GivenParameters<Real> p_;
    const GivenParameters<Real>* along_;
};

/// The values of a start beside parameters on the host.
template <class Field, class Y0, class Parameters>
consteval bool check_start_of() {
    constexpr bool takes_p =
        is_shared<Parameters> || is_ensemble_array<Parameters> || HasTable<Parameters>;
    static_assert(takes_p,
                  "start_from: p must be an array of float or double, eddy::shared(p), "
                  "eddy::parameters(own, shared) or eddy::selected(theta, index)");
    constexpr bool is_here = is_of_host<MemoryOf<Parameters>>;
    static_assert(is_here,
                  "start_from: it is computed on the host, and p lies on a device; give "
                  "parameters on the host, or an array of initial values");
    if constexpr (takes_p && is_here) return check_start<Field, typename Y0::is_start>();
    return false;
}

}  // namespace eddy::inline v0::detail
