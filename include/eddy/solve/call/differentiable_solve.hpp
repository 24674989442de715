#pragma once
// A whole solve as a Differentiable (ad/differentiable.hpp): (y0, p) -> the state at t1, with a
// pullback. So it nests in scans, while loops and remat, and composes with programs. Segments of a
// trajectory, a solve in each, are multiple shooting.
// Test: tests/solve/differentiable_solve.cpp

#include <eddy/ad/differentiable.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/solve.hpp>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

template <class T>
inline constexpr bool is_own_array = false;
template <class Real>
inline constexpr bool is_own_array<EnsembleArray<Real>> = true;

/// A Vec is one row.
template <class Real>
[[nodiscard]] EnsembleView<const Real> state_view(const EnsembleArray<Real>& array) {
    return array.view();
}
template <class Real, int size>
[[nodiscard]] EnsembleView<const Real> state_view(const Vec<Real, size>& row) {
    return {row.data, 1, size, 0, 1};
}
template <class Real>
void copy_state(EnsembleArray<Real>& to, const EnsembleView<const Real>& from) {
    to = EnsembleArray<Real>(from);
}
template <class Real, int size>
void copy_state(Vec<Real, size>& row, const EnsembleView<const Real>& from) {
    for (int i = 0; i < size; ++i) row[i] = from(0, i);
}

/// The types of y0 and p that a solve nests with.
template <class Y0, class Parameters>
consteval bool check_states() {
    constexpr bool lanes = is_own_array<Y0> && (is_own_array<Parameters> || is_vec<Parameters>);
    constexpr bool one = is_vec<Y0> && is_vec<Parameters>;
    static_assert(
        lanes || one,
        "differentiable_solve: y0 and p must be EnsembleArrays (trajectory, component); or an "
        "EnsembleArray and a Vec that all trajectories share; or Vecs, for one trajectory");
    return lanes || one;
}

/// What solves for a DifferentiableSolve and its linearizations: their memory.
template <class Field, class Method, class... Extras>
struct KeptSolvers {
    EnsembleSolver<Field, Method, Extras...> solve;
    PullbackSolver<Field, Method, Extras...> pull;
};

/// Calls function(y0, p) with p as a solver takes it.
template <class Y0, class Parameters, class Function>
decltype(auto) with_arrays(const Y0& y0, const Parameters& p, Function function) {
    if constexpr (is_own_array<Y0> && is_vec<Parameters>) {
        const EnsembleView<const typename Parameters::value_type> row = state_view(p);
        return function(state_view(y0), eddy::shared(row));
    } else {
        return function(state_view(y0), state_view(p));
    }
}

}  // namespace detail

/// The state at t1, and its pullback. It keeps y0 and p alone: the way back solves once more, bit for
/// bit as before, within the memory_budget of the options. The pullback may be called more than
/// once, and when the DifferentiableSolve is gone.
template <class Kept, class Y0, class Parameters>
class SolveLinearization {
  public:
    SolveLinearization(std::shared_ptr<Kept> kept, Y0 end, Y0 y0, Parameters p)
        : value(std::move(end)), kept_(std::move(kept)), y0_(std::move(y0)), p_(std::move(p)) {}

    /// The cotangents of y0 and of p.
    [[nodiscard]] std::tuple<Y0, Parameters> pullback(const Y0& cotangent) const {
        return detail::with_arrays(y0_, p_, [&](const auto& y0, const auto& p) {
            const auto& gradient = kept_->pull(detail::state_view(cotangent), y0, p).gradient;
            std::tuple<Y0, Parameters> result;
            detail::copy_state(std::get<0>(result), gradient.y0.view());
            detail::copy_state(std::get<1>(result), gradient.p.view());
            return result;
        });
    }

    Y0 value;

  private:
    std::shared_ptr<Kept> kept_;
    Y0 y0_;
    Parameters p_;
};

/// `f(y0, p)` is the state at t1, `f.linearize(y0, p)` the same with its pullback. States are
/// EnsembleArrays (trajectory, component), with p of each trajectory or a Vec that all share; or Vecs,
/// for one trajectory. One that fails has NaN for its state, and contributes nothing to a pullback: a
/// solve that begins from it says which trajectory it is. It keeps memory from call to call; a copy shares
/// none. One object, its linearizations included, serves one call at a time.
template <class Field, class Method, class... Extras>
class DifferentiableSolve {
    using Kept = detail::KeptSolvers<Field, Method, Extras...>;

  public:
    explicit DifferentiableSolve(const SolveOptions& options, const Extras&... extras)
        : DifferentiableSolve(Method{}, options, extras...) {}
    /// A solve by a method that has members to choose.
    DifferentiableSolve(const Method& method, const SolveOptions& options, const Extras&... extras)
        : method_(method), options_(options), extras_(extras...) {
        require_argument(options_.save_at.values.empty(),
                         "differentiable_solve: save_at has {} times, but the value is only the "
                         "state at t1; leave it out, or take segments in a scan",
                         options_.save_at.values.size());
        require_argument(options_.paths == 1, detail::said_of(detail::Refusal::paths_of_nested),
                         "differentiable_solve", options_.paths);
        kept_ = make();
    }
    DifferentiableSolve(const DifferentiableSolve& other)
        : method_(other.method_), options_(other.options_), extras_(other.extras_), kept_(make()) {}
    DifferentiableSolve(DifferentiableSolve&& other) = default;
    DifferentiableSolve& operator=(DifferentiableSolve other) {
        method_ = other.method_;
        std::swap(options_, other.options_);
        std::swap(extras_, other.extras_);
        std::swap(kept_, other.kept_);
        return *this;
    }
    ~DifferentiableSolve() = default;

    template <class Y0, class Parameters>
    [[nodiscard]] Y0 operator()(const Y0& y0, const Parameters& p) const {
        Y0 end{};
        if constexpr (detail::check_states<Y0, Parameters>()) {
            detail::with_arrays(y0, p, [&](const auto& start, const auto& parameters) {
                detail::copy_state(end, kept_->solve(start, parameters).y());
            });
        }
        return end;
    }
    template <class Y0, class Parameters>
    [[nodiscard]] auto linearize(const Y0& y0, const Parameters& p) const {
        return SolveLinearization<Kept, Y0, Parameters>(kept_, (*this)(y0, p), y0, p);
    }

    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("solve", "y0 and p; the backward pass solves again", trace_field(Field{}));
    }

  private:
    [[nodiscard]] std::shared_ptr<Kept> make() const {
        return std::apply(
            [&](const Extras&... extras) {
                return std::make_shared<Kept>(
                    Kept{EnsembleSolver<Field, Method, Extras...>(method_, options_, extras...),
                         PullbackSolver<Field, Method, Extras...>(method_, options_, extras...)});
            },
            extras_);
    }

    [[no_unique_address]] Method method_;
    SolveOptions options_;
    std::tuple<Extras...> extras_;
    std::shared_ptr<Kept> kept_;
};

/// A solve as a differentiable function from (y0, p) to the state at t1, for use in `scan`,
/// `while_loop`, `remat` and `compose`.
template <class Field, class Method, class... Extras>
[[nodiscard]] auto differentiable_solve(const Field&, const Method& method,
                                        const SolveOptions& options, const Extras&... extras) {
    if constexpr (detail::check_call<detail::CallKind::nested, detail::NoArrays, Field, Method,
                                     Extras...>())
        return DifferentiableSolve<Field, Method, Extras...>(method, options, extras...);
}

}  // namespace eddy::inline v0
