#pragma once
// Solver objects over rows: the equation is traced once, and what its calls compute in stays.
// Test: tests/backends/row_objects.cpp

#include <eddy/backends/rows/row_ask.hpp>
#include <eddy/solve/ask/new_values.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// What they hold, whatever they compute. A copy begins with no memory.
class RowObject : public NewValues<RowObject> {
  protected:
    explicit RowObject(RowCall&& call) : call_(std::move(call)) {}

    template <class Y0, class Parameters>
    [[nodiscard]] auto arrays(const Y0& y0, const Parameters& p) {
        if (type_of_start_ != &tag_of<Y0>) start_ = start_of<Y0>(call_.field->sizes());
        type_of_start_ = &tag_of<Y0>;
        return row_arrays(y0, p, start_);
    }

    RowCall call_;
    Workspace kept_;

  private:
    friend NewValues<RowObject>;
    template <class Replace>
    void renew(const char* where, const Replace& replace) {
        const OneCall only(kept_, where);
        replace(call_.options);
        ++call_.edition;
    }

    template <class Y0>
    static constexpr char tag_of = 0;
    const char* type_of_start_ = nullptr;  // of which type y0 was in the call before
    std::shared_ptr<const FieldMaker> start_;
};
/// What save points are pulled back from, of both kinds of numbers: each call is of one of them.
template <template <class> class Seeds>
struct SeedsOfBoth {
    Seeds<double> of_doubles{};
    Seeds<float> of_floats{};

    template <class Parameters>
    [[nodiscard]] auto& of() {
        if constexpr (std::is_same_v<NumberOnRows<Parameters>, float>)
            return of_floats;
        else
            return of_doubles;
    }
};

/// `solver(y0, p)`, as of EnsembleSolver: results stay valid until the next call.
class RowSolver : public RowObject {
  public:
    explicit RowSolver(RowCall&& call) : RowObject(std::move(call)) {}

    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return (*this)(y0, p, SolutionInto<NumberOnRows<Parameters>>{}, cancelled);
    }
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const SolutionInto<NumberOnRows<Parameters>>& into,
                              const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>())
            return solve_on_rows(kept_, call_, arrays(y0, p), into, cancelled);
    }

    /// A pushforward, with tangents of y0 and p.
    template <class Y0, class Parameters, class Y0Tangent, class PTangent>
    requires(!is_cancellation<PTangent>) decltype(auto) operator()(
        const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent, const PTangent& p_tangent,
        const Cancellation& cancelled = {}) {
        return (*this)(y0, p, y0_tangent, p_tangent, SolutionInto<NumberOnRows<Parameters>>{},
                       cancelled);
    }
    template <class Y0, class Parameters, class Y0Tangent, class PTangent>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const Y0Tangent& y0_tangent,
                              const PTangent& p_tangent,
                              const SolutionInto<NumberOnRows<Parameters>>& into,
                              const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>() &&
                      check_tangents_on_rows<Y0, Parameters, Y0Tangent, PTangent>())
            return push_forward_on_rows(kept_of_tangents_, call_, arrays(y0, p),
                                        row_arrays(y0_tangent, p_tangent, nullptr), into,
                                        cancelled);
    }

  private:
    Workspace kept_of_tangents_;
};

/// `solver(y0, p)`, as of SensitivitySolver.
template <class Directions>
class RowSensitivitySolver;
template <bool of_p, bool of_y0>
class RowSensitivitySolver<Along<of_p, of_y0>> : RowObject {
  public:
    explicit RowSensitivitySolver(RowCall&& call) : RowObject(std::move(call)) {}

    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        if constexpr (check_sensitivities_on_rows<Y0, Parameters>())
            return carry_on_rows(kept_, call_, arrays(y0, p), of_p, of_y0, cancelled);
    }
};

template <class Parameters>
inline constexpr bool is_gradient_into = false;
template <class Real>
inline constexpr bool is_gradient_into<GradientInto<Real>> = true;

/// What a loss that is traced when it is called makes of data.
template <class Real>
struct TracedSeeds : RowSeeds<Real> {
    std::ptrdiff_t columns = -1;  // of the data that the loss was traced with; −1: without
};

/// `solver(data, y0, p)`, as of GradientSolver. The loss is traced once for each number of data.
template <class LossFunction>
class RowGradientSolver : public RowObject {
    template <class Parameters>
    using Into = GradientInto<NumberOnRows<Parameters>>;

  public:
    RowGradientSolver(RowCall&& call, const LossFunction& loss)
        : RowObject(std::move(call)), loss_(loss) {}

    template <class Data, class Y0, class Parameters>
    requires(!is_cancellation<Parameters> && !is_gradient_into<Parameters>) decltype(auto)
    operator()(const Data& data, const Y0& y0, const Parameters& p,
               const Cancellation& cancelled = {}) {
        return (*this)(data, y0, p, Into<Parameters>{}, cancelled);
    }
    template <class Data, class Y0, class Parameters>
    decltype(auto) operator()(const Data& data, const Y0& y0, const Parameters& p,
                              const Into<Parameters>& into, const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>())
            return differentiate_on_rows<NumberOnRows<Parameters>>(
                kept_, call_, arrays(y0, p), seeds_from<Parameters>(data), into, cancelled);
    }
    // A loss without data.
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        return (*this)(NoData{}, y0, p, Into<Parameters>{}, cancelled);
    }
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p, const Into<Parameters>& into,
                              const Cancellation& cancelled = {}) {
        return (*this)(NoData{}, y0, p, into, cancelled);
    }

    /// The loss, its gradient, and the product of its Hessian with the direction.
    template <class Data, class Y0, class Parameters, class Y0Direction, class PDirection>
    requires(!is_cancellation<PDirection>) auto hessian_vector_product(
        const Data& data, const Y0& y0, const Parameters& p, const Y0Direction& y0_direction,
        const PDirection& p_direction, const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>() &&
                      check_tangents_on_rows<Y0, Parameters, Y0Direction, PDirection>())
            return multiply_hessian_on_rows<NumberOnRows<Parameters>>(
                kept_of_products_, call_, arrays(y0, p),
                row_arrays(y0_direction, p_direction, nullptr), seeds_from<Parameters>(data),
                cancelled);
    }
    // Of a loss without data.
    template <class Y0, class Parameters, class Y0Direction, class PDirection>
    auto hessian_vector_product(const Y0& y0, const Parameters& p, const Y0Direction& y0_direction,
                                const PDirection& p_direction, const Cancellation& cancelled = {}) {
        return hessian_vector_product(NoData{}, y0, p, y0_direction, p_direction, cancelled);
    }

  private:
    template <class Parameters, class Data>
    [[nodiscard]] auto& seeds_from(const Data& data) {
        auto& seeds = seeds_.template of<Parameters>();
        take_views(seeds.arrays, given_arrays(data));
        const std::ptrdiff_t columns = seeds.arrays.empty() ? 0 : seeds.arrays[0].num_components;
        trace(seeds, may_miss_values<Data>, columns, DynamicVector{static_cast<int>(columns)});
        return seeds;
    }
    template <class Parameters>
    [[nodiscard]] auto& seeds_from(const NoData&) {
        auto& seeds = seeds_.template of<Parameters>();
        seeds.arrays.clear();
        trace(seeds, false, -1);
        return seeds;
    }
    template <class Real, class... Data>
    void trace(TracedSeeds<Real>& seeds, bool may_miss, std::ptrdiff_t columns,
               const Data&... data) {
        if (seeds.loss && columns == seeds.columns && may_miss == seeds.may_miss_values) return;
        seeds.loss = nullptr;
        seeds.may_miss_values = may_miss;
        seeds.loss = loss_on_rows(loss_, call_.field->sizes(), may_miss, data...);
        seeds.columns = columns;
    }

    [[no_unique_address]] LossFunction loss_;
    Workspace kept_of_products_;
    SeedsOfBoth<TracedSeeds> seeds_;
};

/// `solver(cotangents, y0, p)`, as of PullbackSolver.
class RowPullbackSolver : public RowObject {
  public:
    explicit RowPullbackSolver(RowCall&& call) : RowObject(std::move(call)) {}

    template <class Arrays, class Y0, class Parameters>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const Cancellation& cancelled = {}) {
        return (*this)(cotangents, y0, p, GradientInto<NumberOnRows<Parameters>>{}, cancelled);
    }
    template <class Arrays, class Y0, class Parameters>
    auto operator()(const Arrays& cotangents, const Y0& y0, const Parameters& p,
                    const GradientInto<NumberOnRows<Parameters>>& into,
                    const Cancellation& cancelled = {}) {
        if constexpr (check_arrays_on_rows<Y0, Parameters>()) {
            auto& seeds = seeds_.of<Parameters>();
            take_views(seeds.arrays, cotangents);
            auto& pulled =
                differentiate_on_rows(kept_, call_, arrays(y0, p), seeds, into, cancelled);
            return PulledBack<NumberOnRows<Parameters>>{pulled.gradient, pulled.report};
        }
    }

  private:
    SeedsOfBoth<RowSeeds> seeds_;
};

}  // namespace eddy::inline v0::detail
