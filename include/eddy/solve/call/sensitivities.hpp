#pragma once
// All of ∂y/∂(parameters, y0) in one call, by forward mode. Steps of Runge–Kutta and Rosenbrock methods carry the derivatives along
// (call/carried_solve.hpp). Where they cannot, it is a pushforward of as many lanes as there are trajectories and directions:
// lanes of one trajectory take the same steps, because tangents decide nothing, and lie side by side in the places
// of packs, which wait for none of them.
// Test: tests/solve/all_sensitivities.cpp

#include <cstddef>
#include <eddy/solve/call/called_once.hpp>
#include <eddy/solve/call/carried_solve.hpp>
#include <eddy/solve/call/sensitivity_result.hpp>
#include <eddy/solve/call/solve.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// Are all directions of a call possible with its types?
template <class Y0, class Parameters, class Field, class Method, class... Extras>
consteval bool check_sensitivities() {
    if constexpr (check_call<CallKind::pushforward, Y0, Field, Method, Extras...>() &&
                  check_arrays<Y0, Parameters>()) {
        constexpr bool is_array = !HasTable<Parameters>;
        static_assert(is_array,
                      "sensitivities: p must be an array of float or double, or eddy::shared(p); "
                      "give the parameters of each trajectory in a row");
        using Choice = ExtrasOf<Field, Method, Extras...>;
        constexpr Refusal refusal =
            refusal_of(Features().with(Feature::sensitivities), family_of<Field, Method>,
                       machine_for<Choice, Y0>, CallKind::pushforward);
        constexpr bool is_here =
            is_of_host<MemoryOf<Y0>> &&
            is_of_host<MemoryOf<decltype(parameter_view(std::declval<const Parameters&>()))>>;
        static_assert(
            is_here,
            "sensitivities: y0 and p must lie on the host, where a row for each direction "
            "is made of them; copy them there, or call pushforward");
        return check_refusal<refusal>() && is_array && is_here;
    }
    return false;
}

/// Times of each trajectory's own, for every direction.
[[nodiscard]] inline OwnTimes repeated(const OwnTimes& times, std::ptrdiff_t num_directions) {
    OwnTimes all{{}, times.num_lanes * num_directions, times.num_times};
    for (std::ptrdiff_t lane = 0; lane < all.num_lanes; ++lane) {
        for (std::ptrdiff_t k = 0; k < times.num_times; ++k)
            all.values.push_back(times(lane / num_directions, k));
    }
    return all;
}
/// The options of all lanes.
[[nodiscard]] inline SolveOptions repeated(SolveOptions options, std::ptrdiff_t num_directions) {
    for (TimeOption* time : {&options.t0, &options.t1}) {
        if (time->is_own()) *time = repeated(time->own(), num_directions);
    }
    for (SaveTimes* times :
         {&options.save_at, static_cast<SaveTimes*>(&options.impulses.times),
          static_cast<SaveTimes*>(&options.impulses.components),
          static_cast<SaveTimes*>(&options.impulses.amounts), &options.inputs.knots}) {
        if (times->is_own) times->own = repeated(times->own, num_directions);
    }
    for (KnotValues* values : {&options.inputs.values, &options.inputs.slopes}) {
        if (values->is_own) values->rows = repeated(values->rows, num_directions);
    }
    return options;
}

/// The inputs of all lanes: of each trajectory a row for every direction.
template <class Real>
struct RowsOfDirections {
    EnsembleArray<Real> y0, p;  // (lane, component)
    std::vector<Real> ones;     // 1, count − 1 zeros, and so on
    std::ptrdiff_t count = 0, lanes = 0;

    /// Tangents along directions `first` to `first` + `width`, as a view of the ones: lane l has a 1 where
    /// l − first − component is a multiple of their number.
    [[nodiscard]] EnsembleView<const Real> tangents(std::ptrdiff_t first,
                                                    std::ptrdiff_t width) const {
        return {ones.data() + count - first, lanes, width, 1, -1};
    }
    [[nodiscard]] EnsembleView<const Real> no_tangents(std::ptrdiff_t width) const {
        return {ones.data() + 1, lanes, width, 0, 0};
    }
    void set(const EnsembleView<const Real>& of_y0, const EnsembleView<const Real>& of_p,
             std::ptrdiff_t num_directions) {
        count = num_directions;
        lanes = of_y0.num_lanes * count;
        repeat(of_y0, y0);
        repeat(of_p, p);
        // Before the first lane as many as components lie behind; a second number is there in any case.
        ones.assign(static_cast<std::size_t>(lanes + count + 1), Real(0));
        for (std::ptrdiff_t k = 0; k < lanes + count; k += count)
            ones[static_cast<std::size_t>(k)] = Real(1);
    }

  private:
    void repeat(const EnsembleView<const Real>& rows, EnsembleArray<Real>& all) const {
        all.assign(lanes, rows.num_components, Real(0));
        for (std::ptrdiff_t i = 0; i < rows.num_components; ++i) {
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
                all(lane, i) = rows(rows.num_lanes == 1 ? 0 : lane / count, i);
        }
    }
};

}  // namespace detail

/// `sensitivities` as an object that keeps its memory and its threads: `solver(y0, p)`.
template <class Field, class Method, class Directions, class... Extras>
class SensitivitySolver;
template <class Field, class Method, bool of_p, bool of_y0, class... Extras>
class SensitivitySolver<Field, Method, Along<of_p, of_y0>, Extras...> {
    static constexpr int num_p = of_p ? Field::parameter_size : 0,
                         num_y0 = of_y0 ? Field::state_size : 0, num_directions = num_p + num_y0;

  public:
    SensitivitySolver(const Method& method, const SolveOptions& options, const Extras&... extras)
        : solver_(method, carries ? options : detail::repeated(options, num_directions), extras...),
          own_times_{options.t0.own().num_lanes, options.t1.own().num_lanes,
                     options.save_at.own.num_lanes} {
        require_argument(!options.save_steps,
                         "sensitivities: save_steps = true; leave it out, and ask solve for the "
                         "steps, which are the same");
        require_argument(!options.tangents_in_error_norm,
                         "sensitivities: tangents_in_error_norm = true, but all directions share "
                         "the steps of the state; leave it out, or call pushforward");
    }

    /// The solution and its derivatives, which stay valid until the next call. `cancelled` stops this call alone,
    /// in place of the options' token.
    template <class Y0, class Parameters>
    decltype(auto) operator()(const Y0& y0, const Parameters& p,
                              const Cancellation& cancelled = {}) {
        if constexpr (detail::check_sensitivities<Y0, Parameters, Field, Method, Extras...>()) {
            using Real = EnsembleScalarOf<Y0>;
            static_assert(
                num_directions > 0,
                "sensitivities: the field has no parameters to differentiate with respect "
                "to; give along_y0 after the options");
            const EnsembleView<const Real> starts = ensemble_view(y0),
                                           parameters = detail::parameter_view(p);
            require_inputs<detail::is_shared<Parameters>>(starts, parameters);
            for (const std::ptrdiff_t rows_given : own_times_)
                require_argument(
                    rows_given == 0 || rows_given == starts.num_lanes,
                    "sensitivities: times of {} trajectories, but y0 has {}; give each "
                    "its own, or one list for all",
                    rows_given, starts.num_lanes);
            const detail::OneCall only(kept_, name);
            auto& [rows, result] = kept_.template get<Kept<Real>>();
            if constexpr (carries) {
                solver_(y0, p, cancelled, result);
                return (result);
            } else {
                rows.set(starts, parameters, num_directions);
                result.take(solver_(rows.y0, rows.p, along<of_y0>(rows, num_p, Field::state_size),
                                    along<of_p>(rows, 0, Field::parameter_size), cancelled),
                            num_directions);
                return (result);
            }
        }
    }

  private:
    static constexpr const char* name = "sensitivities";
    template <class Real>
    struct Kept {
        detail::RowsOfDirections<Real> rows;
        Sensitivities<Real> result;
    };

    template <bool is_shared, class Real>
    static void require_inputs(const EnsembleView<const Real>& y0,
                               const EnsembleView<const Real>& p) {
        // Shapes have names: nvcc drops braces in a call that depend on a template's parameters.
        const detail::ArrayShape y0_shape{y0.num_lanes, Field::state_size};
        detail::require_y0_shape(detail::array_shape(y0), y0_shape, name);
        detail::require_finite(y0, "y0", name);
        if (Field::parameter_size > 0) {
            const detail::ArrayShape p_shape{is_shared ? 1 : y0.num_lanes, Field::parameter_size};
            detail::require_shape(detail::array_shape(p), p_shape, "p", name, "");
            detail::require_finite(p, "p", name);
        }
    }
    template <bool is_asked, class Rows>
    static auto along(const Rows& rows, int first, int width) {
        return is_asked ? rows.tangents(first, width) : rows.no_tangents(width);
    }

    static constexpr bool carries =
        detail::carries_in_call<num_directions, Field, Method, Extras...>;
    std::conditional_t<carries, detail::CarriedSolver<Field, Method, Along<of_p, of_y0>, Extras...>,
                       EnsembleSolver<Field, Method, Extras...>>
        solver_;
    std::ptrdiff_t own_times_
        [3];  // how many trajectories have a t0, a t1, save points of their own; 0: all have one
    detail::Workspace kept_;
};

/// A solver of sensitivities: `sensitivity_solver(field, method, options, along_both, extras...)`.
template <class Field, class Method, bool of_p, bool of_y0, class... Extras>
[[nodiscard]] auto sensitivity_solver(const Field&, const Method& method,
                                      const SolveOptions& options, Along<of_p, of_y0>,
                                      const Extras&... extras) {
    if constexpr (detail::check_solver<Field, Method, Extras...>())
        return SensitivitySolver<Field, Method, Along<of_p, of_y0>, Extras...>(method, options,
                                                                               extras...);
}

}  // namespace eddy::inline v0
