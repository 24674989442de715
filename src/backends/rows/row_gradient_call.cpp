// Calls of gradients over rows, and of Hessians with a direction.

#include <algorithm>
#include <eddy/solve/call/unread.hpp>
#include <memory>
#include "gradient_on_rows.hpp"
#include "row_arguments.hpp"
#include "row_tangents.hpp"

namespace eddy::inline v0::detail {
namespace {

/// Tells which parameters neither the equation nor the loss nor a start reads.
template <class Real>
class UnreadOnRows {
  public:
    void tell(GradientReport& report, const RowCall& call, const RowArrays<Real>& arrays,
              const std::shared_ptr<const FieldMaker>& loss) {
        report.unread.clear();
        if (!loss || call.events) return;
        if (loss != loss_ || arrays.start != start_) look(call, loss, arrays.start);
        list_unread(report.unread, components_, arrays.p.has_table ? &arrays.p.table : nullptr,
                    report.num_lanes(), call.field->num_parameters(), is_used_);
    }

  private:
    void look(const RowCall& call, const std::shared_ptr<const FieldMaker>& loss,
              const std::shared_ptr<const FieldMaker>& start) {
        loss_ = loss;
        start_ = start;
        components_ = call.field->unread_parameters();
        for (const auto& other : {loss, start}) {
            if (!other) continue;
            const std::vector<int> also = other->unread_parameters();
            std::erase_if(components_,
                          [&](int i) { return !std::binary_search(also.begin(), also.end(), i); });
        }
    }

    std::shared_ptr<const FieldMaker> loss_, start_;
    std::vector<int> components_;
    std::vector<char> is_used_;
};

/// The gradients of one solver object.
template <class Real>
struct GradientsOnRows {
    RowArguments<Real> arguments;
    std::unique_ptr<GradientOnRows<Real>> latest;
    UnreadOnRows<Real> unread;
    KeptThreads threads;

    ValueAndGradient<Real>& run(const RowCall& call, const RowArrays<Real>& arrays,
                                const RowSeeds<Real>& seeds, const GradientInto<Real>& into,
                                const Cancellation& cancelled, const char* where) {
        const RowArrays<Real>& of_numbers = arguments.with_arrays(call, arrays, where);
        if (!latest || !latest->serves(of_numbers, seeds))
            latest = std::make_unique<GradientOnRows<Real>>(call, of_numbers, seeds,
                                                            of_numbers.y0.num_lanes);
        latest->run(call, of_numbers, seeds, into, cancelled, threads, where);
        arguments.bring_back(call, arrays, latest->result.gradient);
        return latest->result;
    }
};

/// Those with a direction.
template <class Real>
struct ProductsOnRows {
    RowTangents<Real> tangents;
    GradientsOnRows<Real> gradients;
    std::shared_ptr<const FieldMaker> loss;  // of y alone, whose tangent `seeds` have
    RowSeeds<Real> seeds;
};
/// Columns [first, first + count).
template <class Real>
[[nodiscard]] EnsembleArray<Real> columns_of(const EnsembleArray<Real>& all, std::ptrdiff_t first,
                                             std::ptrdiff_t count) {
    EnsembleArray<Real> some(all.rows(), count);
    for (std::ptrdiff_t c = 0; c < count; ++c)
        for (std::ptrdiff_t row = 0; row < all.rows(); ++row) some(row, c) = all(row, first + c);
    return some;
}
/// Half of what has been pulled back from the tangent of a loss: to y and p (0), the product; to their tangents (1),
/// the gradient.
template <class Real>
[[nodiscard]] Gradient<Real> half_of(const Gradient<Real>& both, const RowArrays<Real>& arrays,
                                     int which) {
    Gradient<Real> half;
    const auto take = [&](const EnsembleArray<Real>& from, EnsembleArray<Real>& to) {
        const std::ptrdiff_t size = from.cols() / 2;
        to = columns_of(from, which * size, size);
    };
    take(both.y0, half.y0);
    take(both.p, half.p);
    take(both.impulse_amounts, half.impulse_amounts);
    if (arrays.p.has_table) add_rows_of_table(arrays.p.table, half.p, half.shared);
    return half;
}

}  // namespace

template <class Real>
HessianVectorProduct<Real> multiply_hessian_on_rows(Workspace& kept, const RowCall& call,
                                                    const RowArrays<Real>& arrays,
                                                    const RowArrays<Real>& along,
                                                    const RowSeeds<Real>& seeds,
                                                    const Cancellation& cancelled) {
    constexpr const char* where = "hessian_vector_product";
    const OneCall only(kept, where);
    require_argument(!call.options.save_steps, said_of(Refusal::steps_of_loss), where);
    require_argument(call.field->inputs().size == 0,
                     "{}: an equation that inputs drive has no Hessian over rows; give a "
                     "compile-time functor without Rows",
                     where);
    require_argument(!call.differentiates_times,
                     "{}: differentiate_times with a Hessian over rows; leave it out, or give a "
                     "compile-time functor without Rows",
                     where);
    require_steps_of_state(call, where);
    require_no_time(call, seeds.loss.get(), where);
    auto& products = kept.get<ProductsOnRows<Real>>();
    const std::vector<Direction> directions{Direction::given};
    const RowCall& both = products.tangents.with_tangents(call, directions, where);
    if (products.loss != seeds.loss)
        products.seeds.loss = with_tangents(seeds.loss, directions, where);
    products.loss = seeds.loss;
    products.seeds.arrays = seeds.arrays;
    products.seeds.may_miss_values = seeds.may_miss_values;
    const RowArrays<Real>& given = products.tangents.with_tangent(call, arrays, along, where);
    ValueAndGradient<Real>& found =
        products.gradients.run(both, given, products.seeds, {}, cancelled, where);
    products.gradients.unread.tell(found.report, call, arrays, seeds.loss);
    return {half_of(found.gradient, arrays, 1), half_of(found.gradient, arrays, 0),
            std::move(found.report), std::move(found.loss)};
}
template decltype(multiply_hessian_on_rows<double>) multiply_hessian_on_rows<double>;
template decltype(multiply_hessian_on_rows<float>) multiply_hessian_on_rows<float>;

template <class Real>
ValueAndGradient<Real>& differentiate_on_rows(Workspace& kept, const RowCall& call,
                                              const RowArrays<Real>& arrays,
                                              const RowSeeds<Real>& seeds,
                                              const GradientInto<Real>& into,
                                              const Cancellation& cancelled) {
    const char* const where = seeds.loss ? "value_and_gradient" : "pullback";
    const OneCall only(kept, where);
    require_argument(!seeds.loss || !call.options.save_steps, said_of(Refusal::steps_of_loss),
                     where);
    require_argument(!(arrays.start || arrays.p.has_table) ||
                         !(gives_any(into) || bool(call.options.gather_sums)),
                     "{}: start_from(function), parameters(own, shared) and selected(theta, index) "
                     "over rows go with no arrays to write a gradient into, and without "
                     "gather_sums; leave these out, or give arrays of y0 and p",
                     where);
    auto& gradients = kept.get<GradientsOnRows<Real>>();
    ValueAndGradient<Real>& found = gradients.run(call, arrays, seeds, into, cancelled, where);
    gradients.unread.tell(found.report, call, arrays, seeds.loss);
    return found;
}
template decltype(differentiate_on_rows<double>) differentiate_on_rows<double>;
template decltype(differentiate_on_rows<float>) differentiate_on_rows<float>;

}  // namespace eddy::inline v0::detail
