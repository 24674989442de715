#pragma once
// Some lanes of a call, as a call of their own: rows of what all lanes are given are gathered, the results
// are put back into the rows that they belong to. Sums over lanes are the caller's business.

#include <eddy/core/export.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <span>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Lanes of a call, ascending.
using LaneList = std::vector<std::ptrdiff_t>;

// Of float and double, in src/.

/// Rows of an array, one after another.
template <class Real>
EDDY_EXPORT void gather_rows(const EnsembleView<const Real>& array,
                             std::span<const std::ptrdiff_t> lanes, EnsembleArray<Real>& rows);

/// Row rows[k] of `from` into row lanes[k] of `array`; nothing where the array is empty.
template <class Real>
EDDY_EXPORT void put_rows(const EnsembleView<Real>& array, const LaneList& lanes,
                          const EnsembleView<Real>& from, const LaneList& rows);

/// The same of an array wherever it lies.
template <class Memory, class Real>
void gather_rows_from(const Memory& memory, const EnsembleView<const Real>& array,
                      std::span<const std::ptrdiff_t> lanes, EnsembleArray<Real>& rows) {
    if (!lies_in(memory, array.first)) return gather_rows(array, lanes, rows);
    if constexpr (!is_of_host<Memory>) {
        rows.assign(static_cast<std::ptrdiff_t>(lanes.size()), array.num_components, Real(0));
        memory.bring_rows(array, lanes, rows.data());
    }
}
template <class Memory, class Real>
void put_rows_into([[maybe_unused]] const Memory& memory, const EnsembleView<Real>& array,
                   const LaneList& lanes, const EnsembleView<Real>& from, const LaneList& rows) {
    if constexpr (!is_of_host<Memory>) {
        if (array.first && lies_in(memory, array.first)) {
            EnsembleArray<Real> dense;
            gather_rows(ensemble_view(from), rows, dense);
            return memory.put_rows(array, lanes, dense.data());
        }
    }
    put_rows(array, lanes, from, rows);
}

/// Of the array of each save point the rows that gather(array, rows) takes, where lanes have rows of their own.
template <class Real, class Gather>
void gather_each(const std::vector<EnsembleView<const Real>>& whole,
                 std::vector<EnsembleArray<Real>>& rows,
                 std::vector<EnsembleView<const Real>>& part, const Gather& gather) {
    rows.resize(whole.size());
    part.clear();
    for (std::size_t k = 0; k < whole.size(); ++k) {
        const bool has_rows = whole[k].first && whole[k].num_lanes > 1;
        if (has_rows) gather(whole[k], rows[k]);
        part.push_back(has_rows ? std::as_const(rows[k]).view() : whole[k]);
    }
}

/// What some lanes are given. `Spec` is that of the call for these lanes alone.
template <class Spec>
class LaneRows {
    using Real = typename Spec::Scalar;

  public:
    /// Takes the rows of a problem, which may be of another method.
    template <class WholeProblem, class Memory>
    void gather(const WholeProblem& whole, const LaneList& lanes, const Memory& memory) {
        gather_rows_from(memory, whole.y0, lanes, y0_);
        gather_parameters(memory, whole.p, lanes, p_);
        has_tangents_ = whole.y0_tangent.first != nullptr;
        if (!has_tangents_) return;
        gather_rows_from(memory, whole.y0_tangent, lanes, y0_tangent_);
        gather_parameters(memory, whole.p_tangent, lanes, p_tangent_);
    }
    [[nodiscard]] GivenRows<Real> views() const {
        if (!has_tangents_) return {y0_.view(), p_.view(), {}, {}};
        return {y0_.view(), p_.view(), y0_tangent_.view(), p_tangent_.view()};
    }
    /// The problem of these rows by another method.
    void prepare(PreparedProblem<Spec>& part, const SolveOptions& options,
                 const typename Spec::Controller& controller, const char* where) const {
        with_parameters(p_, [&](const auto& given_p) {
            part.prepare(options, controller, y0_, given_p, where);
        });
        if constexpr (Spec::is_dual) {
            if (!has_tangents_) return part.leave_tangents_zero();
            with_parameters(p_tangent_, [&](const auto& given_p) {
                part.prepare_tangents(y0_tangent_, given_p, where);
            });
        }
    }
    /// Data or cotangents at each save point.
    template <class Memory>
    void gather_data(const std::vector<EnsembleView<const Real>>& whole, const LaneList& lanes,
                     std::vector<EnsembleView<const Real>>& part, const Memory& memory) {
        gather_each(whole, data_, part, [&](const auto& array, auto& rows) {
            gather_rows_from(memory, array, lanes, rows);
        });
    }

  private:
    template <class Memory>
    static void gather_parameters(const Memory& memory, const EnsembleView<const Real>& whole,
                                  const LaneList& lanes, EnsembleArray<Real>& rows) {
        constexpr std::ptrdiff_t first[] = {0};
        if constexpr (Spec::shares_parameters)
            gather_rows_from(memory, whole, first, rows);
        else if constexpr (Spec::parameter_size == 0)
            rows.assign(static_cast<std::ptrdiff_t>(lanes.size()), 0, Real(0));
        else
            gather_rows_from(memory, whole, lanes, rows);
    }
    template <class Use>
    static void with_parameters(const EnsembleArray<Real>& rows, const Use& use) {
        if constexpr (Spec::shares_parameters)
            use(SharedParameters<Real>{rows.view()});
        else
            use(rows);
    }

    EnsembleArray<Real> y0_, p_, y0_tangent_, p_tangent_;  // p: one row where it is shared
    bool has_tangents_ = false;
    std::vector<EnsembleArray<Real>> data_;  // (save point)
};

}  // namespace eddy::inline v0::detail
