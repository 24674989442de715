#include "row_arguments.hpp"
#include <algorithm>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/call/start_values.hpp>
#include <vector>
#include "row_work.hpp"

namespace eddy::inline v0::detail {
namespace {

/// A trajectory's numbers, one after another.
template <class Values, class Real>
void copy_lane(const Values& values, std::ptrdiff_t lane, std::vector<Real>& to) {
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = values(lane, static_cast<std::ptrdiff_t>(i));
}

}  // namespace

template <class Real>
const RowArrays<Real>& RowArguments<Real>::with_arrays(const RowCall& call,
                                                       const RowArrays<Real>& given,
                                                       const char* where) {
    if (!given.start && !given.p.has_table) return given;
    const int size = call.field->num_parameters();
    const std::ptrdiff_t lanes =
        given.start ? lanes_of_start(call.options.t0, given.p.num_lanes(), given.num_started, where)
                    : given.y0.num_lanes;
    require_parameters(given.p, lanes, size, "p", where);
    arrays_ = {given.y0, {given.p.rows, {}, given.p.is_shared}};
    if (given.p.has_table) {
        gather_parameters(given.p.table, lanes, size, p_);
        arrays_.p.rows = ensemble_view(p_);
    }
    if (given.start) {
        y0_.assign(lanes, call.field->num_states(), Real(0));
        start(call, given);
        arrays_.y0 = ensemble_view(y0_);
    }
    return arrays_;
}
template <class Real>
void RowArguments<Real>::start(const RowCall& call, const RowArrays<Real>& given) {
    std::vector<Real> p(static_cast<std::size_t>(call.field->num_parameters())),
        y(static_cast<std::size_t>(call.field->num_states()));
    const auto function = tile_of(*given.start, RowProblem<Real>{}, 1);
    for (std::ptrdiff_t lane = 0; lane < y0_.rows(); ++lane) {
        copy_lane(given.p, lane, p);
        const auto t0 = static_cast<Real>(time_of_start(call.options.t0, lane));
        std::vector<Real> value(y.size());
        function->f(&t0, y.data(), p.data(), value.data());
        for (std::ptrdiff_t i = 0; i < y0_.cols(); ++i)
            y0_(lane, i) = value[static_cast<std::size_t>(i)];
    }
}

template <class Real>
void RowArguments<Real>::bring_back(const RowCall& call, const RowArrays<Real>& given,
                                    Gradient<Real>& gradient) const {
    if (given.p.has_table)
        add_rows_of_table(given.p.table, gradient.p, gradient.shared);
    else
        gradient.shared.assign(0, 0, Real(0));
    if (given.start) pull_start(call, given, gradient);
}
template <class Real>
void RowArguments<Real>::pull_start(const RowCall& call, const RowArrays<Real>& given,
                                    Gradient<Real>& gradient) const {
    EnsembleArray<Real> rows(gradient.y0.rows(), call.field->num_parameters());
    std::vector<Real> p(static_cast<std::size_t>(rows.cols())), of_p(p.size()),
        y(static_cast<std::size_t>(gradient.y0.cols())), value(y.size()), of_y(y.size()),
        cotangent(y.size());
    const auto function = tile_of(*given.start, RowProblem<Real>{}, 1);
    Real of_t0 = 0;
    std::vector<Real> kept(static_cast<std::size_t>(function->num_residuals()));
    for (std::ptrdiff_t lane = 0; lane < rows.rows(); ++lane) {
        copy_lane(gradient.y0, lane, cotangent);
        // As of a lane that failed, whose start may have no derivative.
        if (std::all_of(cotangent.begin(), cotangent.end(), [](Real c) { return c == 0; }))
            continue;
        copy_lane(given.p, lane, p);
        std::fill(of_p.begin(), of_p.end(), Real(0));
        const auto t0 = static_cast<Real>(time_of_start(call.options.t0, lane));
        function->forward(&t0, y.data(), p.data(), value.data(), kept.data());
        function->pull(&t0, y.data(), p.data(), kept.data(), cotangent.data(), of_y.data(),
                       of_p.data());
        if (call.differentiates_times) {
            function->pull_time(&t0, y.data(), p.data(), cotangent.data(), &of_t0);
            static_cast<EnsembleArray<Real>&>(gradient.t0)(lane, 0) += of_t0;
        }
        for (std::ptrdiff_t i = 0; i < rows.cols(); ++i)
            rows(lane, i) = of_p[static_cast<std::size_t>(i)];
    }
    add_rows_of_start(given.p, gradient, rows);
}

template class RowArguments<double>;
template class RowArguments<float>;

}  // namespace eddy::inline v0::detail
