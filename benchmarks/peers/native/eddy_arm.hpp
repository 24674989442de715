#pragma once
// eddy as an arm: a solve of many lanes, or the gradient of |y(t1)|² with respect to p (and y0, which comes with it).

#include <eddy/eddy.hpp>

#include "arm.hpp"
#include "equations.hpp"

namespace peers {

/// t1 of the cases, by equation.
inline double end_time(const Options& options) {
    const std::string problem = options.text("problem");
    return problem == "van_der_pol" ? 20 : problem == "ring" ? 2 : 1;
}

/// The options of a solve: constant steps where `steps` is given, else adaptive ones.
inline eddy::SolveOptions solve_options(const Options& options, double tolerance) {
    eddy::SolveOptions solve{.t1 = end_time(options), .rtol = tolerance, .atol = tolerance};
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

inline std::string name_of_setting(const Options& options) {
    const std::string backend = options.text("backend", "Cpu");
    return options.text("method") +
           (options.integer("steps") > 0 ? ", ConstantController, "
                                         : ", rtol = atol, PIDController, ") +
           (backend == "Serial" ? "Serial"
                                : "Cpu with " + options.text("cores", "1") + " thread(s)") +
           ", solver object kept from call to call";
}

inline std::vector<double> looked_at(const auto& array, const Lanes& lanes) {
    std::vector<double> values;
    for (int lane = 0; lane < lanes.num_run(); lane += lanes.check_spacing()) {
        for (int i = 0; i < array.cols(); ++i)
            values.push_back(static_cast<double>(array(lane, i)));
    }
    return values;
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

template <class Field, class Method, class Controller, class Backend>
class EddySolve : public Arm {
  public:
    explicit EddySolve(const Options& options)
        : options_(options),
          lanes_(options),
          y0_(to_array<double>(lanes_.y0, lanes_.num_run(), lanes_.state_size)),
          p_(to_array<double>(lanes_.p, lanes_.num_run(), lanes_.parameter_size)) {
        set_tolerance(1e-6);
    }
    [[nodiscard]] std::string setting() const override { return name_of_setting(options_); }
    void set_tolerance(double tolerance) override {
        solver_ = std::make_unique<Solver>(solve_options(options_, allowed(tolerance)),
                                           Controller{}, make_backend<Backend>(options_));
    }
    Counts run() override {
        solution_ = &(*solver_)(y0_, p_);
        return counts_of(*solution_);
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(solution_->y(), lanes_);
    }

  private:
    using Solver = eddy::EnsembleSolver<Field, Method, Controller, Backend>;
    using Result = std::remove_cvref_t<decltype(std::declval<Solver&>()(
        std::declval<eddy::EnsembleArray<double>&>(),
        std::declval<eddy::EnsembleArray<double>&>()))>;
    Options options_;
    Lanes lanes_;
    eddy::EnsembleArray<double> y0_, p_;
    std::unique_ptr<Solver> solver_;
    const Result* solution_ = nullptr;
};

template <class Field, class Method, class Controller, class Backend>
class EddyGradient : public Arm {
  public:
    explicit EddyGradient(const Options& options)
        : options_(options),
          lanes_(options),
          y0_(to_array<double>(lanes_.y0, lanes_.num_run(), lanes_.state_size)),
          p_(to_array<double>(lanes_.p, lanes_.num_run(), lanes_.parameter_size)) {
        set_tolerance(1e-6);
    }
    [[nodiscard]] std::string setting() const override {
        return name_of_setting(options_) +
               (options_.number("limit_mib") > 0 ? ", memory_budget as the limit" : "");
    }
    void set_tolerance(double tolerance) override {
        solver_ = std::make_unique<Solver>(solve_options(options_, allowed(tolerance)),
                                           Controller{}, make_backend<Backend>(options_));
    }
    Counts run() override {
        result_ = &(*solver_)(y0_, p_);
        return counts_of(result_->report);
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(result_->gradient.p, lanes_);
    }

  private:
    using Solver = eddy::GradientSolver<Field, Method, SquaredNorm, Controller, Backend>;
    using Result = std::remove_cvref_t<decltype(std::declval<Solver&>()(
        std::declval<eddy::EnsembleArray<double>&>(),
        std::declval<eddy::EnsembleArray<double>&>()))>;
    Options options_;
    Lanes lanes_;
    eddy::EnsembleArray<double> y0_, p_;
    std::unique_ptr<Solver> solver_;
    const Result* result_ = nullptr;
};

}  // namespace peers
