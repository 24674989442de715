// Data that are NaN count nothing on any machine, and what counts has the bits that it has without them.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::Forced, support::HalfSquares;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::ptrdiff_t num_lanes = 6;
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-7, .save_at = {0.5, 2}};
const Array start(num_lanes, 2, 0.8), given_p(num_lanes, 2, 1.3);

/// A residual with the logarithm of its scale, which is a parameter.
struct Gaussian {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto r = (y - data) / p[1];
        return sum(eddy::log(p[1]) + 0.5 * r * r);
    }
};
/// The same, with a weight for each value in place of NaN.
struct Weighted {
    static constexpr int data_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        const auto term = [&](int i) {
            const auto r = (y[i] - data[i]) / p[1];
            return eddy::select(data[i + 2] > 0, eddy::log(p[1]) + 0.5 * r * r, 0.0);
        };
        return term(0) + term(1);
    }
};

/// Lane 1 misses a value at each save point, lane 2 both of the first, lane 3 all.
std::vector<Array> data_of(double in_place_of_missing, bool with_weights = false) {
    std::vector<Array> data(2, Array(num_lanes, with_weights ? 4 : 2, 0.3));
    for (auto& of_point : data) {
        for (std::ptrdiff_t lane = 0; with_weights && lane < num_lanes; ++lane)
            of_point(lane, 2) = of_point(lane, 3) = 1;
    }
    const auto miss = [&](std::size_t k, std::ptrdiff_t lane, int i) {
        data[k](lane, i) = in_place_of_missing;
        if (with_weights) data[k](lane, i + 2) = 0;
    };
    miss(0, 1, 0), miss(1, 1, 1);
    miss(0, 2, 0), miss(0, 2, 1);
    for (std::size_t k : {0u, 1u}) miss(k, 3, 0), miss(k, 3, 1);
    return data;
}
const std::vector<Array> sparse = data_of(missing), whole = data_of(0.3),
                         weighted = data_of(9, true);

template <class Loss, class Data, class... Backend>
auto differentiate(const Data& data, const Backend&... backend) {
    return eddy::value_and_gradient(Forced{}, eddy::Tsit5{}, Loss{}, data, start, given_p, options,
                                    backend...);
}
void check_rows(const Array& some, const Array& all, const Array& expected) {
    for (int i = 0; i < 2; ++i) {
        for (std::ptrdiff_t lane : {0, 4, 5}) CHECK(some(lane, i) == all(lane, i));
        for (std::ptrdiff_t lane : {1, 2})
            CHECK(some(lane, i) == Approx(expected(lane, i)).epsilon(1e-12));
        CHECK(some(3, i) == 0);
    }
}
template <class Backend>
void check(const Backend& backend) {
    const auto some = differentiate<Gaussian>(eddy::missing_as_nan(sparse), backend);
    const auto all = differentiate<Gaussian>(eddy::missing_as_nan(whole), backend);
    const auto expected = differentiate<Weighted>(weighted, eddy::Rows{});

    REQUIRE(some.report.success());
    for (std::ptrdiff_t lane : {1, 2, 3}) CHECK(some.loss(lane) == Approx(expected.loss(lane)));
    check_rows(some.gradient.y0, all.gradient.y0, expected.gradient.y0);
    check_rows(some.gradient.p, all.gradient.p, expected.gradient.p);
    for (std::ptrdiff_t lane : {0, 1, 2, 3})
        CHECK(some.report.num_observed(lane) == (lane == 0 ? 4 : lane == 3 ? 0 : 2));
    CHECK(all.report.num_observed(3) == 4);
}

}  // namespace

TEST_CASE("missing data: left out on every machine, exactly") {
    check(eddy::Serial{});
    check(eddy::Cpu{});
    check(eddy::Tiles{});
    check(eddy::Rows{});
    check(support::EmulatedDevice{});
}

TEST_CASE("missing data: counted where they lie on a device, but by no call that returns early") {
    using OnDevice = support::DeviceArray<double>;
    const OnDevice starts{start}, rates{given_p};
    std::vector<OnDevice> there;
    for (const Array& of_point : sparse) there.emplace_back(of_point);
    const auto on = [&](const support::EmulatedDevice& device) {
        return eddy::value_and_gradient(Forced{}, eddy::Tsit5{}, Gaussian{},
                                        eddy::missing_as_nan(there), starts, rates, options,
                                        device);
    };
    const auto here = differentiate<Gaussian>(eddy::missing_as_nan(sparse), eddy::Serial{});
    const auto found = on(support::EmulatedDevice{});

    CHECK(found.report.num_observed(1) == 2);
    CHECK(found.gradient.p(1, 1) == here.gradient.p(1, 1));
    CHECK(
        support::message_of([&] { (void)on({.asynchronous = true}); }) ==
        "value_and_gradient: missing_as_nan in an asynchronous call, whose values are counted on "
        "the host; leave one of them out, or give each value a weight as one more number of data");
}

TEST_CASE("missing data: a plain sum of squares has the bits that it has where nothing may miss") {
    const auto some = differentiate<HalfSquares>(eddy::missing_as_nan(sparse), eddy::Serial{});
    const auto all = differentiate<HalfSquares>(whole, eddy::Serial{});

    CHECK(some.loss(0) == all.loss(0));
    CHECK(some.gradient.p(0, 1) == all.gradient.p(0, 1));
    CHECK(some.loss(3) == 0);
    CHECK(all.report.num_observed(3) == 4);
}

TEST_CASE("missing data: second derivatives have no NaN of them") {
    const auto solver = [](auto loss, const auto& backend) {
        return eddy::gradient_solver(Forced{}, eddy::Tsit5{}, loss, options, backend);
    };
    const Array along(num_lanes, 2, 1);
    const auto some =
        solver(Gaussian{}, eddy::Serial{})
            .hessian_vector_product(eddy::missing_as_nan(sparse), start, given_p, along, along);
    const auto expected = solver(Weighted{}, eddy::Rows{})
                              .hessian_vector_product(weighted, start, given_p, along, along);

    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < 2; ++i)
            CHECK(some.product.p(lane, i) ==
                  Approx(expected.product.p(lane, i)).epsilon(1e-11).margin(1e-300));
    }
    CHECK(some.product.p(3, 1) == 0);
    CHECK(some.report.num_observed(1) == 2);
}

TEST_CASE("missing data: NaN without a word, and infinity, are refused") {
    CHECK(support::message_of([] { (void)differentiate<HalfSquares>(sparse, eddy::Serial{}); }) ==
          "value_and_gradient: data[0](1, 0) = nan, of save point 0; give finite numbers, or "
          "eddy::missing_as_nan(data) where NaN stands for a value that is missing");
    std::vector<Array> infinite = whole;
    infinite[1](2, 1) = std::numeric_limits<double>::infinity();
    CHECK(support::message_of([&] {
              (void)differentiate<HalfSquares>(eddy::missing_as_nan(infinite), eddy::Serial{});
          }) ==
          "value_and_gradient: data[1](2, 1) = inf, of save point 1; give finite numbers, or NaN "
          "for a value that is missing");
}
