#pragma once
// Solver objects over rows: the equation is traced once, and what its calls compute in stays.
// Test: tests/backends/row_objects.cpp

#include <eddy/backends/rows/row_ask.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// What they hold, whatever they compute. A copy begins with no memory.
class RowObject {
  protected:
    explicit RowObject(RowCall&& call) : call_(std::move(call)) {}

    template <class Y0, class Parameters>
    void take(const Y0& y0, const Parameters& p) {
        take_arguments(call_, y0, p, start_ != &tag_of<Y0>);
        start_ = &tag_of<Y0>;
    }

    RowCall call_;
    Workspace kept_;

  private:
    template <class Y0>
    static constexpr char tag_of = 0;
    const char* start_ = nullptr;  // of which type y0 was in the call before
};

/// `solver(y0, p)`, as of EnsembleSolver: results stay valid until the next call.
class RowSolver : RowObject {
  public:
    explicit RowSolver(RowCall&& call) : RowObject(std::move(call)) {}

    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return (*this)(y0, p, SolutionInto<double>{}, cancelled);
    }
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const SolutionInto<double>& into,
                              const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>()) {
            take(y0, p);
            return solve_on_rows(kept_, call_, into, cancelled);
        }
    }
};

/// `solver(data, y0, p)`, as of GradientSolver. The loss is traced once for each number of data.
template <class LossFunction>
class RowGradientSolver : RowObject {
  public:
    RowGradientSolver(RowCall&& call, const LossFunction& loss)
        : RowObject(std::move(call)), loss_(loss) {}

    template <class Data, class Y0, class Parameters>
    requires(!is_cancellation<Parameters>) decltype(auto) operator()(
        const Data& data, const Y0& y0, const Parameters& p, const Cancellation& cancelled = {}) {
        return (*this)(data, y0, p, GradientInto<double>{}, cancelled);
    }
    template <class Data, class Y0, class Parameters>
    decltype(auto) operator()(const Data& data, const Y0& y0, const Parameters& p,
                              const GradientInto<double>& into,
                              const Cancellation& cancelled = {}) {
        take_views(seeds_.arrays, given_arrays(data));
        take_missing(may_miss_values<Data>);
        const RowViews& views = seeds_.arrays;
        const std::ptrdiff_t columns = views.empty() ? 0 : views.front().num_components;
        trace(columns, DynamicVector{static_cast<int>(columns)});
        return run(y0, p, into, cancelled);
    }
    // A loss without data.
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return (*this)(y0, p, GradientInto<double>{}, cancelled);
    }
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const GradientInto<double>& into,
                              const Cancellation& cancelled = {}) {
        seeds_.arrays.clear();
        take_missing(false);
        trace(-1);
        return run(y0, p, into, cancelled);
    }

  private:
    void take_missing(bool may_miss) {
        if (seeds_.may_miss_values != may_miss) seeds_.loss = nullptr;
        seeds_.may_miss_values = may_miss;
    }
    template <class... Data>
    void trace(std::ptrdiff_t columns, const Data&... data) {
        if (seeds_.loss && columns == columns_) return;
        seeds_.loss = loss_on_rows(loss_, call_.field->sizes(), seeds_.may_miss_values, data...);
        columns_ = columns;
    }
    template <class Y0, class Parameters>
    decltype(auto) run(const Y0& y0, const Parameters& p, const GradientInto<double>& into,
                       const Cancellation& cancelled) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>()) {
            take(y0, p);
            return differentiate_on_rows(kept_, call_, seeds_, into, cancelled,
                                         "value_and_gradient");
        }
    }

    [[no_unique_address]] LossFunction loss_;
    RowSeeds seeds_;
    std::ptrdiff_t columns_ = -1;  // of the data that the loss was traced with; −1: without
};

/// `solver(cotangents, y0, p)`, as of PullbackSolver.
class RowPullbackSolver : RowObject {
  public:
    explicit RowPullbackSolver(RowCall&& call) : RowObject(std::move(call)) {}

    template <class Arrays, class Y0, class Parameters>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const Cancellation& cancelled = {}) {
        return (*this)(cotangents, y0, p, GradientInto<double>{}, cancelled);
    }
    template <class Arrays, class Y0, class Parameters>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const GradientInto<double>& into, const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>()) {
            take(y0, p);
            take_views(seeds_.arrays, cotangents);
            auto& pulled = differentiate_on_rows(kept_, call_, seeds_, into, cancelled, "pullback");
            return PulledBack<double>{pulled.gradient, pulled.report};
        }
    }

  private:
    RowSeeds seeds_;
};

}  // namespace eddy::inline v0::detail
