#pragma once
// eddy as an arm: a solve of many lanes, or the gradient of |y(t1)|² with respect to p (and y0, which comes with it).

#include <eddy/eddy.hpp>
#include <optional>

#include "arm.hpp"
#include "equations.hpp"
#include "stiff_times.hpp"

namespace peers {

/// t1 of the cases, by equation.
inline double end_time(const Options& options) {
    const std::string problem = options.text("problem");
    if (is_stiff(problem)) return stiff_end_time(problem, options.text("task"));
    return problem == "van_der_pol" ? 20 : problem == "ring" ? 2 : 1;
}

/// The options of a solve: constant steps where `steps` is given, else adaptive ones.
inline eddy::SolveOptions solve_options(const Options& options, double tolerance) {
    eddy::SolveOptions solve{.t1 = end_time(options),
                             .rtol = tolerance,
                             .atol = tolerance * options.number("atol_ratio", 1)};
    const int steps = options.integer("steps");
    if (steps > 0) {
        solve.dt0 = solve.t1 / steps;
        solve.max_steps = steps + 1;
    }
    if (const double mib = options.number("limit_mib"); mib > 0)
        solve.memory_budget = static_cast<std::size_t>(mib * (1 << 20));
    return solve;
}

template <class Real>
eddy::EnsembleArray<Real> to_array(const std::vector<double>& values, int lanes, int size) {
    eddy::EnsembleArray<Real> array(lanes, size);
    std::size_t next = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < size; ++i) array(lane, i) = static_cast<Real>(values[next++]);
    }
    return array;
}

/// The method, and how its steps are chosen, as the arms of a program are told apart.
inline std::string kind(const Options& options) {
    return options.text("method") + (options.integer("steps") > 0          ? " constant"
                                     : options.text("backend") == "Serial" ? " serial"
                                                                           : "");
}

inline std::string name_of_setting(const Options& options) {
    const std::string backend = options.text("backend", "Cpu");
    return options.text("method") +
           (options.integer("steps") > 0        ? ", ConstantController, "
            : is_stiff(options.text("problem")) ? ", PredictiveController, "
                                                : ", rtol = atol, PIDController, ") +
           (backend == "Serial" ? "Serial"
            : options.text("device") == "gpu"
                ? "Cuda, arrays of the host copied"
                : "Cpu with " + options.text("cores", "1") + " thread(s)") +
           ", solver object kept from call to call" +
           (options.number("limit_mib") > 0 ? ", memory_budget as the limit" : "");
}

inline Counts counts_of(const auto& outcomes) {
    const eddy::LaneStats total = outcomes.total_stats();
    return {static_cast<double>(total.accepted), static_cast<double>(total.rejected),
            static_cast<double>(total.evaluations)};
}

/// Bisection asks for tolerances that a solver refuses.
inline double allowed(double tolerance) { return std::max(tolerance, 9e-16); }

template <class Backend>
Backend make_backend(const Options& options) {
    if constexpr (std::is_same_v<Backend, eddy::Cpu>) {
        return eddy::Cpu{.threads = options.integer("cores", 1)};
    } else {
        return {};
    }
}

/// What a solve computed for each lane, and what became of the lanes; of a gradient likewise.
decltype(auto) computed(const auto& result) {
    if constexpr (requires { result.gradient; })
        return (result.gradient.p);
    else
        return result.y();
}
const auto& outcomes(const auto& result) {
    if constexpr (requires { result.report; })
        return result.report;
    else
        return result;
}

/// Calls one solver object again and again, made anew for each tolerance.
template <class Solver, class Controller, class Backend>
class EddyArm : public Arm {
  public:
    explicit EddyArm(const Options& options)
        : options_(options),
          lanes_(options),
          y0_(to_array<double>(lanes_.y0, lanes_.num_run(), lanes_.state_size)),
          p_(to_array<double>(lanes_.p, lanes_.num_run(), lanes_.parameter_size)) {
        set_tolerance(1e-6);
    }
    [[nodiscard]] std::string setting() const override { return name_of_setting(options_); }
    void set_tolerance(double tolerance) override {
        solver_.emplace(solve_options(options_, allowed(tolerance)), Controller{},
                        make_backend<Backend>(options_));
    }
    Counts run() override {
        result_ = &(*solver_)(y0_, p_);
        return counts_of(outcomes(*result_));
    }
    [[nodiscard]] std::vector<double> values() const override {
        const auto& array = computed(*result_);
        return looked_at(lanes_, static_cast<int>(array.cols()), array);
    }

  private:
    using Array = eddy::EnsembleArray<double>;
    using Result = std::invoke_result_t<Solver&, const Array&, const Array&>;
    Options options_;
    Lanes lanes_;
    Array y0_, p_;
    std::optional<Solver> solver_;
    std::add_pointer_t<Result> result_ = nullptr;
};

template <class Field, class Method, class Controller, class Backend>
using EddySolve =
    EddyArm<eddy::EnsembleSolver<Field, Method, Controller, Backend>, Controller, Backend>;

template <class Field, class Method, class Controller, class Backend>
using EddyGradient = EddyArm<eddy::GradientSolver<Field, Method, SquaredNorm, Controller, Backend>,
                             Controller, Backend>;

}  // namespace peers
