// The path of a call, looked at: it is the one that steps follow, whatever their size, whoever asks in
// which order.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/sampled_path.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::Array;

/// Brownian motions.
template <int noises>
struct Walks {
    static constexpr int state_size = noises, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return 0. * y; }
    constexpr auto diffusion(auto, const auto&, const auto&) const {
        if constexpr (noises == 1)
            return eddy::vec(1.);
        else if constexpr (noises == 2)
            return eddy::vec(1., 1.);
        else
            return eddy::vec(1., 1., 1.);
    }
};
using Walk = Walks<2>;

/// Steps that are cells take their normals from blocks that neighbours share.
template <int noises>
void require_path_of_cells() {
    const eddy::SolveOptions options{
        .t1 = 5, .save_at = {0.5, 1.75, 5}, .dt0 = 0.0625, .seed = 7, .antithetic = true};
    const Array start(37, noises, 0.), none(37, 0);
    const auto solution = eddy::solve(Walks<noises>{}, eddy::EulerMaruyama{}, start, none, options);
    for (const int lane : {0, 1, 36}) {
        auto path = eddy::brownian_path(Walks<noises>{}, options, lane);
        for (int k = 0; k < 3; ++k) {
            const auto w = path(options.save_at.values[static_cast<std::size_t>(k)]);
            for (int i = 0; i < noises; ++i)
                CHECK(solution.y(k)(lane, i) ==
                      Approx(w[static_cast<std::size_t>(i)]).margin(1e-13));
        }
    }
}
const Array origin(6, 2, 0.), nothing(6, 0);

/// A kind of noise that eddy does not know: all increments with the other sign.
template <class Time>
struct MirroredPath : eddy::BrownianPath<Time> {
    using eddy::BrownianPath<Time>::BrownianPath;

    template <class Number, int noises, int areas>
    [[nodiscard]] EDDY_HD auto increments() const {
        auto found = eddy::BrownianPath<Time>::template increments<Number, noises, areas>();
        for (int k = 0; k < noises; ++k) found.w[k] = -found.w[k];
        return found;
    }
};
template <class Term>
struct MirroredStepper : eddy::StochasticRungeKuttaStepper<Term, eddy::EulerMaruyama, false> {
    template <class Time>
    using Path = MirroredPath<Time>;
};
struct MirroredEuler {
    static constexpr bool has_error_estimate = false;
    template <class Term, bool>
    using Stepper = MirroredStepper<Term>;
};

}  // namespace

TEST_CASE("brownian_path: noise of another kind comes from outside, with the path's numbers") {
    const eddy::SolveOptions options{.t1 = 2, .dt0 = 0.125, .seed = 4};

    const auto known = eddy::solve(Walk{}, eddy::EulerMaruyama{}, origin, nothing, options);
    const auto mirrored = eddy::solve(Walk{}, MirroredEuler{}, origin, nothing, options);

    for (int lane = 0; lane < 6; ++lane) {
        for (int i = 0; i < 2; ++i) {
            CHECK(known.y()(lane, i) != 0);
            CHECK(mirrored.y()(lane, i) == -known.y()(lane, i));
        }
    }
}

TEST_CASE("brownian_path: W where steps end, of constant size and of halves of it") {
    eddy::SolveOptions options{.t0 = 3, .t1 = 5, .dt0 = 0.25, .seed = 4, .first_path = 11};
    options.noise_cell = 0.25;
    eddy::SolveOptions fine = options;
    fine.dt0 = 1. / 64;
    fine.save_steps = true;
    const auto solution = eddy::solve(Walk{}, eddy::EulerMaruyama{}, origin, nothing, fine);
    for (int lane = 0; lane < 6; ++lane) {
        auto path = eddy::brownian_path(Walk{}, options, lane);
        CHECK(path(3)[0] == 0);
        for (std::int64_t k = 0; k < solution.num_steps(lane); ++k) {
            const auto w = path(solution.step_t(lane, k));
            for (int i = 0; i < 2; ++i)
                CHECK(w[static_cast<std::size_t>(i)] ==
                      Approx(solution.step_y(lane, k, i)).margin(1e-13));
        }
    }
}

TEST_CASE("brownian_path: of one noise, of two, of three, by steps that are cells") {
    require_path_of_cells<1>();
    require_path_of_cells<3>();
}

TEST_CASE("brownian_path: stops cut cells, and W is that of the steps there") {
    const eddy::SolveOptions options{.t1 = 1.37,
                                     .save_at = {0.2, 0.5, 0.83, 1.37},
                                     .save_steps = true,
                                     .dt0 = 0.0625,
                                     .seed = 5,
                                     .antithetic = true,
                                     .noise_cell = 0.25};
    const auto solution = eddy::solve(Walk{}, eddy::EulerMaruyama{}, origin, nothing, options);
    auto path = eddy::brownian_path(Walk{}, options, 3);
    for (std::int64_t k = 0; k < solution.num_steps(3); ++k)
        CHECK(path(solution.step_t(3, k))[1] == Approx(solution.step_y(3, k, 1)).margin(1e-13));
    for (std::int64_t k = solution.num_steps(3); k-- > 0;)  // in any order
        CHECK(path(solution.step_t(3, k))[0] == Approx(solution.step_y(3, k, 0)).margin(1e-13));
}

TEST_CASE("brownian_path: the path of steps of adaptive size") {
    const eddy::SolveOptions options{
        .t1 = 2, .rtol = 1e-3, .atol = 1e-3, .save_steps = true, .dt0 = 0.25, .seed = 6};
    const auto solution =
        eddy::solve(Walk{}, eddy::Heun{}, origin, nothing, options, eddy::pi_controller());
    auto path = eddy::brownian_path(Walk{}, options, 0);
    CHECK(solution.noise_cell() == 0.25);
    for (std::int64_t k = 0; k < solution.num_steps(0); ++k)
        CHECK(path(solution.step_t(0, k))[0] == Approx(solution.step_y(0, k, 0)).margin(1e-13));
}

TEST_CASE("brownian_path: what is on no grid, or no path, is refused") {
    const eddy::SolveOptions options{.t1 = 1.1, .dt0 = 0.25};
    auto path = eddy::brownian_path(Walk{}, options, 0);
    const auto refused = [&](double t, const char* text) {
        CHECK_THROWS_WITH(path(t), support::contains(text));
    };
    refused(0.1, "not on the path's grid");
    refused(1.05, "not on the path's grid");
    refused(-0.25, "from t0 = 0 to t1 = 1.1");
    refused(std::nan(""), "from t0 = 0");
    CHECK_THROWS_WITH(eddy::brownian_path(Walk{}, options, -1), support::contains("path -1"));
    CHECK_THROWS_WITH(eddy::brownian_path(Walk{}, options, INT64_MAX),
                      support::contains("path 9223372036854775807"));
    CHECK_THROWS_WITH(eddy::brownian_path(Walk{}, {.t1 = 1}, 0), support::contains("dt0"));
    CHECK_THROWS_WITH(eddy::brownian_path(Walk{}, options, std::int64_t{1} << 48),
                      support::contains("2^48"));
}
