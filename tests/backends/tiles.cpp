// Wide fields in tiles: networks against the same network in plain numbers, forward mode and central
// differences, whatever the threads and the memory; and samples that go wrong alone.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <limits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/impulses.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr auto network = eddy::nn::mlp<3, 20, 33, 2>(eddy::nn::tanh);
using Network = decltype(network);

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

template <class Real>
struct Batch {
    eddy::EnsembleArray<Real> y0;
    std::vector<eddy::EnsembleArray<Real>> data;
    std::vector<Real> p = eddy::nn::glorot_uniform<Real>(network, 7);

    Batch(std::ptrdiff_t lanes, std::size_t saves)
        : y0(lanes, 2), data(saves, eddy::EnsembleArray<Real>(lanes, 2)) {
        support::Random random(5);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            for (int i = 0; i < 2; ++i) {
                y0(lane, i) = static_cast<Real>(random.uniform(-1, 1));
                for (auto& point : data) point(lane, i) = static_cast<Real>(random.uniform(-1, 1));
            }
        }
    }
    template <class Backend>
    auto gradient(const Backend& backend, eddy::SolveOptions options) const {
        options.stable_gradients = false;
        return eddy::value_and_gradient(network, eddy::Tsit5{}, SquaredError{}, data, y0,
                                        eddy::shared(p), options, backend);
    }
};

const eddy::SolveOptions within_steps{.t1 = 1.5, .rtol = 1e-5, .save_at = {0, 0.31, 0.8, 1.5}};

double largest(const auto& array) {
    double most = 0;
    for (std::ptrdiff_t lane = 0; lane < array.rows(); ++lane)
        for (std::ptrdiff_t i = 0; i < array.cols(); ++i)
            most = std::max(most, std::abs(double(array(lane, i))));
    return most;
}
double largest_difference(const auto& a, const auto& b) {
    double most = 0;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane)
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i)
            most = std::max(most, std::abs(double(a(lane, i)) - double(b(lane, i))));
    return most;
}

}  // namespace

TEST_CASE("tiles: the gradient of a network equals that in plain numbers") {
    const Batch<double> batch(70, 4);

    const auto plain = batch.gradient(eddy::Serial{}, within_steps);
    const auto tiles = batch.gradient(eddy::Tiles{}, within_steps);

    // tanh of packs and of the C library differ in the last places; over a few steps that is all.
    CHECK(std::abs(tiles.loss.total - plain.loss.total) < 1e-12 * plain.loss.total);
    CHECK(largest_difference(tiles.gradient.p, plain.gradient.p) <
          1e-12 * largest(plain.gradient.p));
    CHECK(largest_difference(tiles.gradient.y0, plain.gradient.y0) <
          1e-12 * largest(plain.gradient.y0));
    for (std::ptrdiff_t lane = 0; lane < 70; ++lane)
        CHECK(tiles.report.stats(lane).accepted == plain.report.stats(lane).accepted);
}

TEST_CASE("tiles: the gradient of a network is the limit of central differences") {
    Batch<double> batch(9, 1);
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.125};
    const auto call = [&] {
        return eddy::value_and_gradient(network, eddy::Dopri5{}, SquaredError{}, batch.data,
                                        batch.y0, eddy::shared(batch.p), options,
                                        eddy::ConstantController{}, eddy::Tiles{});
    };
    const auto exact = call();

    for (std::size_t i = 0; i < batch.p.size(); i += 41) {
        const double at = batch.p[i], h = 1e-5;
        batch.p[i] = at + h;
        const double above = call().loss.total;
        batch.p[i] = at - h;
        const double below = call().loss.total;
        batch.p[i] = at;
        // The difference is off by h² times a third derivative, and by rounding of the loss over h.
        CHECK(std::abs((above - below) / (2 * h) -
                       exact.gradient.p(0, static_cast<std::ptrdiff_t>(i))) < 1e-8);
    }
}

TEST_CASE("tiles: gradients are the same bits for any threads, checkpoints and memory") {
    const Batch<float> batch(support::sanitized ? 300 : 1000, 4);
    const auto one = batch.gradient(eddy::Tiles{.threads = 1}, within_steps);

    const auto check_same = [&](const eddy::Tiles& backend, std::int64_t checkpoints,
                                std::size_t budget) {
        eddy::SolveOptions options = within_steps;
        options.checkpoints = checkpoints;
        options.memory_budget = budget;
        const auto other = batch.gradient(backend, options);
        CHECK(support::same_bits(other.loss.total, one.loss.total));
        CHECK(support::same_array(other.gradient.p, one.gradient.p));
        CHECK(support::same_array(other.gradient.y0, one.gradient.y0));
    };
    check_same({.threads = 2}, 0, std::size_t{256} << 20);
    check_same({.threads = 1}, 1, std::size_t{256} << 20);
    check_same({.threads = 2}, 3, std::size_t{1} << 16);
    check_same({.threads = 2}, 0, 1);
}

TEST_CASE("tiles: the way back takes what the budget allows, and computes the less again") {
    const Batch<float> batch(support::sanitized ? 100 : 300, 4);
    const auto with_budget = [&](std::size_t bytes) {
        eddy::SolveOptions options = within_steps;
        options.memory_budget = bytes;
        return batch.gradient(eddy::Tiles{.threads = 1}, options).report;
    };
    const auto least = with_budget(1);
    std::int64_t evaluations = least.evaluations_back;
    CHECK(evaluations > 0);

    for (std::size_t budget = 1 << 17; budget <= 1 << 25; budget *= 4) {
        const auto report = with_budget(budget);
        // What a tile works in, and one round of it, it has in any case.
        CHECK(report.bytes_kept <= least.bytes_kept + static_cast<std::int64_t>(budget));
        CHECK(report.evaluations_back <= evaluations);
        evaluations = report.evaluations_back;
    }
    CHECK(evaluations == 0);
}

TEST_CASE("tiles: a sample that runs away harms no other, and is reported") {
    Batch<float> batch(80, 4), without(79, 4);
    const std::ptrdiff_t bad = 13;
    for (std::ptrdiff_t lane = 0; lane < 79; ++lane) {
        const std::ptrdiff_t from = lane < bad ? lane : lane + 1;
        for (int i = 0; i < 2; ++i) {
            without.y0(lane, i) = batch.y0(from, i);
            for (std::size_t k = 0; k < 4; ++k) without.data[k](lane, i) = batch.data[k](from, i);
        }
    }
    for (int i = 0; i < 2; ++i) batch.y0(bad, i) = std::numeric_limits<float>::max();

    const auto with_bad = batch.gradient(eddy::Tiles{}, within_steps);
    const auto expected = without.gradient(eddy::Tiles{}, within_steps);

    // It is still a number at the first save point, the square of its distance is none.
    CHECK(with_bad.report.result(bad) == eddy::Result::loss_not_finite);
    CHECK(with_bad.report.failure(bad).save_point == 0);
    CHECK(std::isnan(with_bad.loss(bad)));
    CHECK(with_bad.gradient.y0(bad, 0) == 0);
    CHECK(largest_difference(with_bad.gradient.p, expected.gradient.p) <
          1e-5 * largest(expected.gradient.p));
    for (std::ptrdiff_t lane = 0; lane < 79; ++lane)
        CHECK(support::same_bits(with_bad.gradient.y0(lane < bad ? lane : lane + 1, 0),
                                 expected.gradient.y0(lane, 0)));
}

namespace {

/// Its derivative with respect to y is infinite at y₀ = 0, its values are not.
struct Rooted {
    static constexpr int state_size = 2, parameter_size = network.parameter_size;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto f = network(t, y, p);
        return eddy::vec(f[0] * eddy::sqrt(y[0]), f[1]);
    }
};
/// Depends on the weights as well.
struct Weighted {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r) + 0.01 * p[0] * p[0];
    }
};

}  // namespace

TEST_CASE("tiles: a sample whose derivative is infinite harms no other, and is reported") {
    Batch<double> batch(80, 4);
    for (std::ptrdiff_t lane = 0; lane < 80; ++lane) batch.y0(lane, 0) = 2 + batch.y0(lane, 0);
    const auto differentiate = [&](const Batch<double>& of, std::size_t budget) {
        eddy::SolveOptions options{.t1 = 0.5, .save_at = {0.1, 0.2, 0.3, 0.5}, .dt0 = 0.125};
        options.memory_budget = budget;
        return eddy::value_and_gradient(Rooted{}, eddy::Tsit5{}, Weighted{}, of.data, of.y0,
                                        eddy::shared(of.p), options, eddy::ConstantController{},
                                        eddy::Tiles{});
    };
    // A sample that is not finite from the start is left out by another way.
    Batch<double> missing = batch;
    missing.y0(13, 0) = std::numeric_limits<double>::quiet_NaN();
    const auto without = differentiate(missing, std::size_t{256} << 20);
    batch.y0(13, 0) = 0;

    for (const std::size_t budget : {std::size_t{256} << 20, std::size_t{1}}) {
        const auto result = differentiate(batch, budget);

        CHECK(result.report.result(13) == eddy::Result::non_finite);
        CHECK(std::isnan(result.loss(13)));
        CHECK(result.gradient.y0(13, 0) == 0);
        CHECK(std::abs(result.loss.total_of_successful - without.loss.total_of_successful) <
              1e-12 * without.loss.total_of_successful);
        CHECK(largest_difference(result.gradient.p, without.gradient.p) <
              1e-12 * largest(without.gradient.p));
        CHECK(largest_difference(result.gradient.y0, without.gradient.y0) == 0);
    }
}

TEST_CASE("tiles: samples that are given as NaN are reported, and harm no other") {
    const Batch<float> batch(80, 4);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // Without the samples: their losses do not count, whatever the data is.
    Batch<float> broken = batch;
    broken.y0(13, 1) = nan;
    broken.y0(64, 0) = -std::numeric_limits<float>::infinity();
    const auto whole = batch.gradient(eddy::Tiles{}, within_steps);

    const auto result = broken.gradient(eddy::Tiles{}, within_steps);

    double loss = 0;
    for (std::ptrdiff_t lane = 0; lane < 80; ++lane) {
        const bool is_bad = lane == 13 || lane == 64;
        CHECK(result.report.result(lane) ==
              (is_bad ? eddy::Result::non_finite : eddy::Result::success));
        CHECK(std::isnan(result.loss(lane)) == is_bad);
        CHECK(support::same_bits(result.gradient.y0(lane, 0),
                                 is_bad ? 0.f : whole.gradient.y0(lane, 0)));
        if (!is_bad) loss += double(whole.loss(lane));
    }
    CHECK(std::abs(result.loss.total_of_successful - loss) < 1e-5 * loss);
    CHECK(largest(result.gradient.p) > 0);
    for (std::ptrdiff_t i = 0; i < result.gradient.p.cols(); ++i)
        CHECK(std::isfinite(result.gradient.p(0, i)));
    // Data that are not finite are refused, as by every backend: they would be lost in each call.
    Batch<float> without_datum = batch;
    without_datum.data[2](7, 0) = nan;
    const std::string message = support::message_of(
        [&] { static_cast<void>(without_datum.gradient(eddy::Tiles{}, within_steps)); });
    CHECK(support::mentions(message, "data[2](7, 0) = nan, of save point 2; give finite"));
    // Weights that all samples share are no sample.
    broken.p[5] = nan;
    CHECK(support::message_of([&] {
              static_cast<void>(broken.gradient(eddy::Tiles{}, within_steps));
          }).find("p(0, 5) = nan; give finite numbers") != std::string::npos);
}

namespace {

struct Decaying {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return p * (t - y) * y;
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

}  // namespace

TEST_CASE("tiles: ends and impulses of each lane's own are met as on Serial") {
    constexpr std::ptrdiff_t lanes = 70;
    eddy::EnsembleArray<double> y0(lanes, 2), p(lanes, 2), ends(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.5 + 0.01 * double(lane);
        y0(lane, 1) = p(lane, 0) = 1.5 - 0.01 * double(lane);
        p(lane, 1) = 0.75;
        ends(lane, 0) = 1 + 0.125 * double(lane % 5);
    }
    const eddy::SolveOptions options = support::with_own_impulses(
        {.t1 = eddy::each(ends), .rtol = 1e-6, .stable_gradients = false}, lanes, false);
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(Decaying{}, eddy::Tsit5{}, Squares{}, y0, p, options,
                                        backend);
    };

    const auto serial = gradient(eddy::Serial{}), tiles = gradient(eddy::Tiles{});

    CHECK(support::same_bits(serial.loss.total, tiles.loss.total));
    CHECK(largest_difference(serial.gradient.y0, tiles.gradient.y0) <
          1e-12 * largest(serial.gradient.y0));
    CHECK(largest_difference(serial.gradient.p, tiles.gradient.p) <
          1e-12 * largest(serial.gradient.p));
    CHECK(largest(serial.gradient.impulse_amounts) > 0);
    CHECK(largest_difference(serial.gradient.impulse_amounts, tiles.gradient.impulse_amounts) <
          1e-12 * largest(serial.gradient.impulse_amounts));
}
