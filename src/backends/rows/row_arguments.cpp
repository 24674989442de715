#include "row_arguments.hpp"
#include <algorithm>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/call/start_values.hpp>
#include <vector>

namespace eddy::inline v0::detail {
namespace {

GivenParameters<double> given_to(const RowCall& call) {
    return {call.p, call.table, call.shares_parameters, call.has_table};
}
/// A trajectory's numbers, one after another.
template <class Values>
void copy_lane(const Values& values, std::ptrdiff_t lane, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = values(lane, static_cast<std::ptrdiff_t>(i));
}

}  // namespace

const RowCall& RowArguments::with_arrays(const RowCall& call, const char* where) {
    if (!call.start && !call.has_table) return call;
    const int size = call.field->num_parameters();
    const GivenParameters<double> given = given_to(call);
    const std::ptrdiff_t lanes =
        call.start ? lanes_of_start(call.options.t0, given.num_lanes(), call.num_started, where)
                   : call.y0.num_lanes;
    given.require_shape_of(lanes, size, "p", where);
    with_arrays_ = call;
    with_arrays_.start = nullptr;
    with_arrays_.has_table = false;
    if (call.has_table) {
        gather_parameters(call.table, lanes, size, p_);
        with_arrays_.p = ensemble_view(p_);
    }
    if (call.start) {
        y0_.assign(lanes, call.field->num_states(), 0.);
        start(call);
        with_arrays_.y0 = ensemble_view(y0_);
    }
    return with_arrays_;
}
void RowArguments::start(const RowCall& call) {
    const GivenParameters<double> given = given_to(call);
    std::vector<double> p(static_cast<std::size_t>(call.field->num_parameters())),
        y(static_cast<std::size_t>(call.field->num_states()));
    const auto function = call.start->on_tile(1);
    for (std::ptrdiff_t lane = 0; lane < y0_.rows(); ++lane) {
        copy_lane(given, lane, p);
        const double t0 = time_of_start(call.options.t0, lane);
        std::vector<double> value(y.size());
        function->f(&t0, y.data(), p.data(), value.data());
        for (std::ptrdiff_t i = 0; i < y0_.cols(); ++i)
            y0_(lane, i) = value[static_cast<std::size_t>(i)];
    }
}

void RowArguments::bring_back(const RowCall& call, Gradient<double>& gradient) const {
    if (call.has_table)
        add_rows_of_table(call.table, gradient.p, gradient.shared);
    else
        gradient.shared.assign(0, 0, 0.);
    if (call.start) pull_start(call, gradient);
}
void RowArguments::pull_start(const RowCall& call, Gradient<double>& gradient) const {
    const GivenParameters<double> given = given_to(call);
    EnsembleArray<double> rows(gradient.y0.rows(), call.field->num_parameters());
    std::vector<double> p(static_cast<std::size_t>(rows.cols())), of_p(p.size()),
        y(static_cast<std::size_t>(gradient.y0.cols())), value(y.size()), of_y(y.size()),
        cotangent(y.size());
    const auto function = call.start->on_tile(1);
    std::vector<double> kept(static_cast<std::size_t>(function->num_residuals()));
    for (std::ptrdiff_t lane = 0; lane < rows.rows(); ++lane) {
        copy_lane(gradient.y0, lane, cotangent);
        // As of a lane that failed, whose start may have no derivative.
        if (std::all_of(cotangent.begin(), cotangent.end(), [](double c) { return c == 0; }))
            continue;
        copy_lane(given, lane, p);
        std::fill(of_p.begin(), of_p.end(), 0.);
        const double t0 = time_of_start(call.options.t0, lane);
        function->forward(&t0, y.data(), p.data(), value.data(), kept.data());
        function->pull(&t0, y.data(), p.data(), kept.data(), cotangent.data(), of_y.data(),
                       of_p.data());
        for (std::ptrdiff_t i = 0; i < rows.cols(); ++i)
            rows(lane, i) = of_p[static_cast<std::size_t>(i)];
    }
    add_rows_of_start(given, gradient, rows);
}

}  // namespace eddy::inline v0::detail
