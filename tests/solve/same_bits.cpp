// Every backend computes the same bits, for equations of + − · / and square roots: the packs of Cpu
// those of Serial, whatever the level of instructions, in groups and in company of their own.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using support::Array;
using support::Lorenz;
using support::same_array;
using support::same_bits;

struct Ensemble {
    Array y0, p;
};

/// Lorenz from calm to chaotic, at many sizes.
Ensemble lorenz_lanes(std::ptrdiff_t lanes) {
    support::Random random(17);
    Ensemble ensemble{Array(lanes, 3), Array(lanes, 3)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const double size = std::ldexp(1, random.below(8) - 5);
        for (int i = 0; i < 3; ++i) ensemble.y0(lane, i) = size * random.uniform(-1, 1);
        ensemble.p(lane, 0) = random.uniform(8, 12);
        ensemble.p(lane, 1) = random.uniform(0, 28);
        ensemble.p(lane, 2) = random.uniform(2, 3);
    }
    return ensemble;
}

/// How many lanes end in another way, or after other steps.
std::ptrdiff_t num_different_outcomes(const eddy::Outcomes& a, const eddy::Outcomes& b) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t lane = 0; lane < a.num_lanes(); ++lane) {
        const auto left = a.stats(lane), right = b.stats(lane);
        count += a.result(lane) != b.result(lane) || left.accepted != right.accepted ||
                 left.rejected != right.rejected || left.evaluations != right.evaluations;
    }
    return count;
}

const eddy::Cpu two_threads{.threads = 2};

/// A quotient and a root, and a state that may run away.
struct Runaway {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0] - y[1] / (2 + y[0] * y[0]),
                         p[1] * eddy::sqrt(1 + y[1] * y[1]) - p[2] * t * y[1]);
    }
};
struct Distance {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + 0.1 * t * p[0] * y[0];
    }
};

template <class Real>
struct Runaways {
    eddy::EnsembleArray<Real> y0, p;
    std::vector<eddy::EnsembleArray<Real>> data;
    std::vector<Real> shared_p{Real(0.9), Real(0.4), Real(1.1)};

    explicit Runaways(std::ptrdiff_t lanes) : y0(lanes, 2), p(lanes, 3) {
        support::Random random(23);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            for (int i = 0; i < 2; ++i) y0(lane, i) = static_cast<Real>(random.uniform(-1, 1.05));
            for (int i = 0; i < 3; ++i) p(lane, i) = static_cast<Real>(random.uniform(0.5, 1.5));
        }
        data.assign(2, eddy::EnsembleArray<Real>(1, 2, Real(0.25)));
    }
};

std::ptrdiff_t num_failures(const eddy::Outcomes& outcomes) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane)
        count += eddy::is_failure(outcomes.result(lane));
    return count;
}

template <class Result>
void check_same(const Result& a, const Result& b) {
    CHECK(num_different_outcomes(a.report, b.report) == 0);
    CHECK(same_bits(a.loss.total, b.loss.total));
    CHECK(same_array(a.gradient.y0, b.gradient.y0));
    CHECK(same_array(a.gradient.p, b.gradient.p));
    std::ptrdiff_t num_different = 0;
    for (std::ptrdiff_t lane = 0; lane < a.report.num_lanes(); ++lane)
        num_different += !same_bits(a.loss(lane), b.loss(lane));
    CHECK(num_different == 0);
}

/// Gradients of parameters that lanes have of their own, and of shared ones, from 1 lane to more
/// than sums over lanes keep apart.
template <class Real, class... Controller>
void check_gradients(const eddy::SolveOptions& options, const Controller&... controller) {
    for (const std::ptrdiff_t lanes : {1, 3, 64, 100, 1009, 4500}) {
        const Runaways<Real> all(lanes);
        const auto differentiate = [&](const auto& p, const auto& backend) {
            return eddy::value_and_gradient(Runaway{}, eddy::Tsit5{}, Distance{}, all.data, all.y0,
                                            p, options, backend, controller...);
        };
        INFO(lanes << " lanes");
        const auto own = differentiate(all.p, eddy::Serial{});
        if (lanes > 1000) {  // the lanes that fail are among them
            CHECK(num_failures(own.report) > lanes / 50);
            CHECK(num_failures(own.report) < lanes / 2);
        }
        const auto shared = eddy::shared(all.shared_p);
        check_same(own, differentiate(all.p, two_threads));
        check_same(differentiate(shared, eddy::Serial{}), differentiate(shared, two_threads));
    }
}

}  // namespace

TEST_CASE("same bits: Serial and Cpu choose the same steps, the first one included") {
    const auto lanes = lorenz_lanes(2000);
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.7, 2}};
    const auto solve_by = [&](const auto& backend) {
        return eddy::solve(Lorenz{}, eddy::Tsit5{}, lanes.y0, lanes.p, options, backend);
    };

    const auto serial = solve_by(eddy::Serial{});
    const auto packs = solve_by(two_threads);

    CHECK(num_different_outcomes(serial, packs) == 0);
    CHECK(same_array(serial.y(0), packs.y(0)));
    CHECK(same_array(serial.y(1), packs.y(1)));
}

TEST_CASE("same bits: gradients of Serial and Cpu are the same, sums over lanes included") {
    check_gradients<double>({.t1 = 1.2, .rtol = 1e-3, .save_at = {0.5, 1.2}, .max_steps = 60});
}

TEST_CASE("same bits: so are those in single precision by steps of constant size") {
    check_gradients<float>({.t1 = 1.2, .save_at = {0.5, 1.2}, .dt0 = 0.1},
                           eddy::ConstantController{});
}

TEST_CASE("same bits: so are the products of a Hessian with a direction, summed over lanes") {
    for (const std::ptrdiff_t lanes : {100, 4200}) {
        const Runaways<double> all(lanes);
        const Array y0_direction(lanes, 2, 0.5);
        const std::vector<double> p_direction{1, -1, 0.5};
        const auto multiply = [&](const auto& backend) {
            return eddy::hessian_vector_product(
                Runaway{}, eddy::Tsit5{}, Distance{}, all.data, all.y0, eddy::shared(all.shared_p),
                y0_direction, eddy::shared(p_direction),
                {.t1 = 0.6, .rtol = 1e-2, .save_at = {0.5, 0.6}}, backend);
        };

        const auto serial = multiply(eddy::Serial{});
        const auto packs = multiply(two_threads);

        check_same(serial, packs);
        CHECK(same_array(serial.product.y0, packs.product.y0));
        CHECK(same_array(serial.product.p, packs.product.p));
    }
}
