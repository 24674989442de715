#pragma once
// A Problem made of an equation, a method and a type of number. Each costs ten seconds to compile:
// `What` says which calls are worth it.

#include <algorithm>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <type_traits>
#include <utility>

#include "fuzz/problem.hpp"

namespace fuzz {

/// What a problem is compiled for.
struct What {
    bool shared = false;
    bool constant_steps = false;
    bool differentiates_times = false;
    bool autonomous = false;
    bool well_posed = false;
    bool pushes = false, pulls = false, loses = false;
    bool serial_gradients = false;
};

/// No function of the state: what is saved is the state.
struct TheState {};

/// loss = data · y, so that its cotangents are the data.
struct DotLoss {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return eddy::dot(y, data);
    }
};

namespace detail {

template <class Real>
eddy::EnsembleArray<Real> real_array(const Table& table) {
    eddy::EnsembleArray<Real> array(table.rows(), table.cols());
    std::transform(table.data(), table.data() + table.rows() * table.cols(), array.data(),
                   [](double x) { return static_cast<Real>(x); });
    return array;
}
template <class Real>
std::vector<eddy::EnsembleArray<Real>> real_arrays(const std::vector<Table>& tables) {
    std::vector<eddy::EnsembleArray<Real>> arrays;
    for (const Table& table : tables) arrays.push_back(real_array<Real>(table));
    return arrays;
}

template <class Array>
Table table_of(const Array& values) {
    const auto array = eddy::ensemble_view(values);
    Table table(array.rows(), array.cols());
    for (std::ptrdiff_t i = 0; i < array.cols(); ++i) {
        for (std::ptrdiff_t lane = 0; lane < array.rows(); ++lane)
            table(lane, i) = static_cast<double>(array(lane, i));
    }
    return table;
}

inline void tell_outcomes(const eddy::Outcomes& outcomes, Answer& answer) {
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
        answer.stats.push_back(outcomes.stats(lane));
        answer.ends.push_back(outcomes.failure(lane));
    }
}

template <class Real>
void tell_solution(const eddy::Solution<Real>& solution, bool has_tangents, std::ptrdiff_t size,
                   Answer& answer) {
    tell_outcomes(solution, answer);
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
        answer.times.push_back(solution.t(k));
        answer.y.push_back(table_of(solution.y(k)));
        if (has_tangents) answer.tangent.push_back(table_of(solution.tangent(k)));
    }
    for (std::ptrdiff_t lane = 0; lane < solution.num_lanes(); ++lane) {
        SavedSteps& steps = answer.steps.emplace_back();
        for (std::ptrdiff_t k = 0; k < solution.num_steps(lane); ++k) {
            steps.t.push_back(solution.step_t(lane, k));
            for (std::ptrdiff_t i = 0; i < size; ++i)
                steps.y.push_back(static_cast<double>(solution.step_y(lane, k, i)));
        }
    }
}

template <class Real>
void tell_gradient(const eddy::Gradient<Real>& gradient, Answer& answer) {
    answer.y0_gradient = table_of(gradient.y0);
    answer.p_gradient = table_of(gradient.p);
    answer.t0_gradient = table_of(gradient.t0);
    answer.t1_gradient = table_of(gradient.t1);
    answer.save_gradient = table_of(gradient.save_at);
}

}  // namespace detail

template <class Field, class Method, class Real, What what, class Function = TheState>
class ProblemOf : public Problem {
    using Array = eddy::EnsembleArray<Real>;
    static constexpr bool observes = !std::is_same_v<Function, TheState>;
    static constexpr bool adaptive =
        !what.constant_steps && eddy::detail::has_error_estimate<Method>;
    using Controller = std::conditional_t<adaptive, eddy::PIDController, eddy::ConstantController>;

  public:
    using MakeLane = void (*)(Random&, double* y0, double* p);

    ProblemOf(const char* name, int num_outputs, MakeLane make_lane)
        : traits_{.name = name,
                  .state_size = Field::state_size,
                  .parameter_size = Field::parameter_size,
                  .num_outputs = num_outputs,
                  .single = std::is_same_v<Real, float>,
                  .shared = what.shared,
                  .adaptive = adaptive,
                  .steps_to_saves = eddy::steps_to_save_points<Method>,
                  .differentiates_times = what.differentiates_times,
                  .observes = observes,
                  .autonomous = what.autonomous,
                  .well_posed = what.well_posed,
                  .pushes = what.pushes,
                  .pulls = what.pulls,
                  .loses = what.loses,
                  .serial_gradients = what.serial_gradients},
          make_lane_(make_lane) {}

    [[nodiscard]] const Traits& traits() const override { return traits_; }
    void make_lane(Random& random, double* y0, double* p) const override {
        make_lane_(random, y0, p);
        for (int i = 0; i < Field::state_size; ++i) y0[i] = static_cast<Real>(y0[i]);
        for (int i = 0; i < Field::parameter_size; ++i) p[i] = static_cast<Real>(p[i]);
    }

    [[nodiscard]] Answer call(Kind kind, const Ask& ask,
                              const std::vector<Ask>& before) const override {
        Answer answer;
        try {
            if (ask.serial) {
                dispatch<what.serial_gradients>(kind, ask, before, eddy::Serial{}, answer);
            } else {
                dispatch<!what.serial_gradients>(kind, ask, before, ask.cpu, answer);
            }
        } catch (const eddy::InvalidArgument& error) {
            answer = {};
            answer.refused = true;
            answer.refusal = error.what();
        }
        return answer;
    }

  private:
    template <bool gradients, class Backend>
    static void dispatch(Kind kind, const Ask& ask, const std::vector<Ask>& before,
                         const Backend& backend, Answer& answer) {
        if (kind == Kind::solve) return solve(ask, before, backend, answer);
        if constexpr (gradients && what.pushes) {
            if (kind == Kind::pushforward) return pushforward(ask, before, backend, answer);
        }
        if constexpr (gradients && what.pulls) {
            if (kind == Kind::pullback) return pullback(ask, backend, answer);
        }
        if constexpr (gradients && what.loses) {
            if (kind == Kind::loss) return loss(ask, before, backend, answer);
        }
        answer.refused = true;
        answer.refusal = "fuzz: not compiled for this call; ask offers() first";
    }

    static Controller controller_of(const Ask& ask) {
        if constexpr (adaptive) {
            return ask.controller;
        } else {
            (void)ask;
            return {};
        }
    }
    /// go(extras...).
    template <class Backend, class Go>
    static auto with_extras(const Ask& ask, const Backend& backend, const Go& go) {
        if constexpr (observes) {
            return go(backend, controller_of(ask), eddy::observe(Function{}));
        } else {
            return go(controller_of(ask), backend);
        }
    }
    /// go(p): an array, or shared parameters.
    template <class Go>
    static auto with_parameters(const Table& p, const Go& go) {
        const auto array = detail::real_array<Real>(p);
        if constexpr (what.shared) {
            return go(eddy::shared(array));
        } else {
            return go(array);
        }
    }
    /// A call whose answer nobody wants.
    template <class Go>
    static void warm_up(const std::vector<Ask>& before, const Go& go) {
        for (const Ask& earlier : before) {
            try {
                go(earlier);
            } catch (const eddy::InvalidArgument&) {
            }
        }
    }

    template <class Backend>
    static void solve(const Ask& ask, const std::vector<Ask>& before, const Backend& backend,
                      Answer& answer) {
        auto solver = with_extras(ask, backend, [&](const auto&... extras) {
            return eddy::ensemble_solver(Field{}, Method{}, ask.options, extras...);
        });
        const auto run = [&](const Ask& asked) -> decltype(auto) {
            return with_parameters(asked.p, [&](const auto& p) {
                return &solver(detail::real_array<Real>(asked.y0), p);
            });
        };
        warm_up(before, run);
        detail::tell_solution(*run(ask), false, Field::state_size, answer);
    }

    template <class Backend>
    static void pushforward(const Ask& ask, const std::vector<Ask>& before, const Backend& backend,
                            Answer& answer) {
        auto solver = with_extras(ask, backend, [&](const auto&... extras) {
            return eddy::ensemble_solver(Field{}, Method{}, ask.options, extras...);
        });
        const auto run = [&](const Ask& asked) {
            return with_parameters(asked.p, [&](const auto& p) {
                return &solver(detail::real_array<Real>(asked.y0), p,
                               detail::real_array<Real>(asked.y0_tangent),
                               detail::real_array<Real>(asked.p_tangent));
            });
        };
        warm_up(before, run);
        detail::tell_solution(*run(ask), true, Field::state_size, answer);
    }

    /// go(extras...), with the wish for derivatives with respect to times.
    template <class Backend, class Go>
    static auto with_gradient_extras(const Ask& ask, const Backend& backend, const Go& go) {
        return with_extras(ask, backend, [&](const auto&... extras) {
            if constexpr (what.differentiates_times) {
                return go(extras..., eddy::differentiate_times);
            } else {
                return go(extras...);
            }
        });
    }

    template <class Backend>
    static void pullback(const Ask& ask, const Backend& backend, Answer& answer) {
        const auto y0 = detail::real_array<Real>(ask.y0);
        with_gradient_extras(ask, backend, [&](const auto&... extras) {
            with_parameters(ask.p, [&](const auto& p) {
                const auto solution = eddy::solve(Field{}, Method{}, y0, p, ask.options, extras...);
                detail::tell_solution(solution, false, Field::state_size, answer);
                detail::tell_gradient(
                    eddy::pullback(solution, detail::real_arrays<Real>(ask.seeds)).gradient,
                    answer);
            });
        });
    }

    template <class Backend>
    static void loss(const Ask& ask, const std::vector<Ask>& before, const Backend& backend,
                     Answer& answer) {
        auto solver = with_gradient_extras(ask, backend, [&](const auto&... extras) {
            return eddy::gradient_solver(Field{}, Method{}, Loss{}, ask.options, extras...);
        });
        const auto run = [&](const Ask& asked) {
            return with_parameters(asked.p, [&](const auto& p) {
                return &solver(detail::real_arrays<Real>(asked.seeds),
                               detail::real_array<Real>(asked.y0), p);
            });
        };
        warm_up(before, run);
        const auto& result = *run(ask);
        detail::tell_outcomes(result.report, answer);
        detail::tell_gradient(result.gradient, answer);
        for (std::ptrdiff_t lane = 0; lane < answer.num_lanes(); ++lane)
            answer.loss.push_back(static_cast<double>(result.loss(lane)));
        answer.total_loss = result.loss.total_of_successful;
    }

    struct Loss : DotLoss {
        static constexpr int data_size = Field::state_size;
    };

    Traits traits_;
    MakeLane make_lane_;
};

}  // namespace fuzz
