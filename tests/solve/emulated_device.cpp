// Arrays that lie on a device: the same calls, with the bits of Serial, though host text can touch
// none of them; and what does not fit is refused before any work.

#include "solve/emulated_device.hpp"

#include <cerrno>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::DevicePages;
using support::EmulatedDevice;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::same_array;
using OnDevice = support::DeviceArray<double>;

constexpr std::ptrdiff_t num_lanes = 150;
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-5,
                                 .atol = 1e-8,
                                 .save_at = {0.5, 2},
                                 .memory_budget = std::size_t{4} << 20};

Array varied(std::ptrdiff_t columns, double first) {
    Array array(num_lanes, columns);
    for (std::ptrdiff_t i = 0; i < columns; ++i) {
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
            array(lane, i) = first + 0.01 * double((7 * lane + 3 * i) % 100);
    }
    return array;
}
const Array start = varied(2, 0.2), rates = varied(2, 0.7), dy = varied(2, -0.5),
            dp = varied(2, 0.1);
const std::vector<Array> data{varied(2, 0.4), Array(1, 2, 0.25)};

std::vector<OnDevice> there(const std::vector<Array>& arrays) {
    std::vector<OnDevice> result;
    for (const Array& array : arrays) result.emplace_back(array);
    return result;
}

template <class A, class B>
bool same_outcomes(const A& a, const B& b) {
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const auto of_a = a.stats(lane), of_b = b.stats(lane);
        if (a.result(lane) != b.result(lane) || of_a.accepted != of_b.accepted ||
            of_a.rejected != of_b.rejected || of_a.evaluations != of_b.evaluations)
            return false;
    }
    return a.num_lanes() == num_lanes && b.num_lanes() == num_lanes;
}
template <class A, class B>
bool same_gradient(const A& a, const B& b) {
    return same_array(a.y0, b.y0) && same_array(a.p, b.p);
}

}  // namespace

TEST_CASE("emulated device: host text cannot read what lies there") {
    const OnDevice array{start};
    int ends[2];
    REQUIRE(pipe(ends) == 0);

    CHECK(write(ends[1], array.data(), sizeof(double)) == -1);
    CHECK(errno == EFAULT);

    close(ends[0]);
    close(ends[1]);
}

TEST_CASE("emulated device: solutions are those of Serial, bit for bit") {
    const OnDevice y0_there{start}, p_there{rates};
    const std::size_t pieces = DevicePages::num_pieces();

    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    const auto found =
        eddy::solve(Forced{}, eddy::Bosh3{}, y0_there, p_there, options, EmulatedDevice{});

    CHECK(same_array(found.y(0), expected.y(0)));
    CHECK(same_array(found.y(1), expected.y(1)));
    CHECK(same_outcomes(found, expected));
    CHECK(same_array(found.y0(), start));
    CHECK(DevicePages::num_pieces() == pieces);
}

TEST_CASE("emulated device: tangents, of shared parameters as well") {
    const Array row(1, 2, 0.9), row_direction(1, 2, 0.3);
    const OnDevice y0_there{start}, dy_there{dy}, row_there{row}, direction_there{row_direction};

    const auto expected = eddy::pushforward(Forced{}, eddy::Bosh3{}, start, eddy::shared(row), dy,
                                            eddy::shared(row_direction), options, eddy::Serial{});
    const auto found =
        eddy::pushforward(Forced{}, eddy::Bosh3{}, y0_there, eddy::shared(row_there), dy_there,
                          eddy::shared(direction_there), options, EmulatedDevice{});

    CHECK(same_array(found.y(1), expected.y(1)));
    CHECK(same_array(found.tangent(0), expected.tangent(0)));
    CHECK(same_array(found.tangent(1), expected.tangent(1)));
}

TEST_CASE("emulated device: gradients are those of Serial, bit for bit") {
    const OnDevice y0_there{start}, p_there{rates};
    const auto data_there = there(data);
    const std::size_t pieces = DevicePages::num_pieces();

    const auto expected =
        eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, start, rates,
                                 options, eddy::Serial{}, eddy::differentiate_times);
    const auto found =
        eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data_there, y0_there,
                                 p_there, options, EmulatedDevice{}, eddy::differentiate_times);

    CHECK(support::same_bits(found.loss.total, expected.loss.total));
    CHECK(found.loss.of_lane == expected.loss.of_lane);
    CHECK(same_gradient(found.gradient, expected.gradient));
    CHECK(same_array<Array, Array>(found.gradient.t1, expected.gradient.t1));
    CHECK(same_array(found.gradient.save_at, expected.gradient.save_at));
    CHECK(same_outcomes(found.report, expected.report));
    CHECK(found.report.counters.pullbacks > 0);
    CHECK(DevicePages::num_pieces() == pieces);
}

TEST_CASE("emulated device: shared parameters, cotangents of the caller's, a Hessian's product") {
    const Array row(1, 2, 0.9), row_direction(1, 2, 0.3);
    const OnDevice y0_there{start}, dy_there{dy}, row_there{row}, direction_there{row_direction};
    const auto data_there = there(data);
    const auto differentiate = [](const auto& backend, const auto& given, const auto& from,
                                  const auto& values, const auto& dy0, const auto& direction) {
        auto gradient =
            eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
        auto pullback = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options, backend);
        const auto p = eddy::shared(values);
        const auto of_loss =
            gradient(given, from, p).gradient;  // a copy: the next call's is another
        const auto product =
            gradient.hessian_vector_product(given, from, p, dy0, eddy::shared(direction)).product;
        return std::tuple(of_loss, product, pullback(given, from, p).gradient);
    };

    const auto expected = differentiate(eddy::Serial{}, data, start, row, dy, row_direction);
    const auto found =
        differentiate(EmulatedDevice{}, data_there, y0_there, row_there, dy_there, direction_there);

    CHECK(same_gradient(std::get<0>(found), std::get<0>(expected)));
    CHECK(same_gradient(std::get<1>(found), std::get<1>(expected)));
    CHECK(same_gradient(std::get<2>(found), std::get<2>(expected)));
}

TEST_CASE("emulated device: results come back into arrays of the caller's") {
    const OnDevice y0_there{start}, p_there{rates};
    auto one = options;
    one.save_at = {};
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, one, EmulatedDevice{});
    const Array expected(solver(y0_there, p_there).y());
    Array dense(num_lanes, 2), wide(2 * num_lanes, 2);
    const eddy::EnsembleView<double> gaps{wide.data(), num_lanes, 2, 2, 2 * num_lanes};

    static_cast<void>(solver(y0_there, p_there, eddy::SolutionInto<double>{.y = dense}));

    CHECK(same_array(dense, expected));
    CHECK(message_of([&] {
              static_cast<void>(solver(y0_there, p_there, eddy::SolutionInto<double>{.y = gaps}));
          }) ==
          "outputs: an array with gaps is to be filled from the memory of the emulated device; "
          "give one whose columns are contiguous");
}

TEST_CASE("emulated device: arrays are checked where they lie, before any work") {
    Array broken = start;
    broken(7, 1) = std::numeric_limits<double>::quiet_NaN();
    const OnDevice y0_there{start}, p_there{rates}, broken_there{broken};
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, EmulatedDevice{});
    const eddy::ViewIn<support::EmulatedMemory, const double> elsewhere{
        {rates.data(), num_lanes, 2, 1, num_lanes}};

    CHECK(message_of([&] { static_cast<void>(solver(broken_there, p_there)); }) ==
          "solve: y0(7, 1) = nan; give finite numbers");
    CHECK(message_of([&] { static_cast<void>(solver(y0_there, elsewhere)); }) ==
          "solve: p does not lie in the memory of the emulated device, as its type says; copy it "
          "there");
    CHECK(solver(y0_there, p_there).success());
}

TEST_CASE("emulated device: a view says where it lies, too") {
    const OnDevice y0_there{start}, p_there{rates};
    const eddy::ViewIn<support::EmulatedMemory, const double> every_other{
        {y0_there.data(), num_lanes / 2, 2, 2, num_lanes}};
    const eddy::ViewIn<support::EmulatedMemory, const double> p_of_them{
        {p_there.data(), num_lanes / 2, 2, 2, num_lanes}};
    const auto all =
        eddy::solve(Forced{}, eddy::Bosh3{}, y0_there, p_there, options, EmulatedDevice{});

    const auto half =
        eddy::solve(Forced{}, eddy::Bosh3{}, every_other, p_of_them, options, EmulatedDevice{});

    for (std::ptrdiff_t lane = 0; lane < num_lanes / 2; ++lane) {
        CHECK(support::same_row(half.y(1), lane, all.y(1), 2 * lane));
        CHECK(support::same_row(half.y0(), lane, start, 2 * lane));
    }
}

TEST_CASE("emulated device: arrays of the host are copied there, whatever their strides") {
    const Array rows = start;
    Array wide(2 * num_lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < 2; ++i) wide(2 * lane, i) = rates(lane, i);
    }
    const eddy::EnsembleView<const double> gaps{wide.data(), num_lanes, 2, 2, 2 * num_lanes};
    const OnDevice y0_there{start};

    const auto expected =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    const auto found =
        eddy::solve(Forced{}, eddy::Bosh3{}, y0_there, gaps, options, EmulatedDevice{});

    CHECK(same_array(found.y(1), expected.y(1)));
    CHECK(same_gradient(eddy::pullback(found, data), eddy::pullback(expected, data)));
}

TEST_CASE("emulated device: a second call on arrays of the same shape allocates nothing there") {
    auto solver =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, EmulatedDevice{});
    static_cast<void>(solver(data, start, rates));
    const std::size_t pieces = DevicePages::num_pieces();
    support::EmulatedRuntime::state.allocations = 0;

    static_cast<void>(solver(data, start, rates));

    CHECK(support::EmulatedRuntime::state.allocations == 0);
    CHECK(DevicePages::num_pieces() == pieces);
}

TEST_CASE("emulated device: a call that is cancelled, or watched, is so there") {
    std::stop_source source;
    source.request_stop();
    auto cancelled = options;
    cancelled.cancelled = source.get_token();
    cancelled.dt_max = 1e-3;
    std::int64_t lanes_done = 0;
    auto watched = options;
    watched.progress = [&](const eddy::WatchedCall& call) {
        return std::shared_ptr<void>(static_cast<void*>(&lanes_done),
                                     [&, call](void*) { lanes_done = call.counts->lanes_done(); });
    };

    const auto stopped =
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, cancelled, EmulatedDevice{});
    static_cast<void>(
        eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, watched, EmulatedDevice{}));

    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        CHECK(stopped.result(lane) == eddy::Result::cancelled);
    CHECK(lanes_done == num_lanes);
}

TEST_CASE("emulated device: what is wrong with the device is one sentence, before any work") {
    auto& state = support::EmulatedRuntime::state;
    const auto message = [&](const EmulatedDevice& backend) {
        state.launches = 0;
        const std::string said = message_of([&] {
            static_cast<void>(eddy::solve(Forced{}, eddy::Bosh3{}, start, rates, options, backend));
        });
        CHECK(state.launches == 0);
        support::EmulatedRuntime::reset();
        return said;
    };
    const OnDevice on_another{start, 1};

    state.fails_with = 100;
    CHECK(message({}) ==
          "Cuda: this machine has no CUDA device (code 100); use Serial{}, or run where "
          "there is one");
    state.fails_with = 35;
    CHECK(message({}) ==
          "Cuda: the CUDA driver is missing, or older than this program needs (code "
          "35); install a newer one, or use Serial{}");
    state.fails_with = 700;
    CHECK(message({}) ==
          "Cuda: asking where an array lies failed (code 700); errors of earlier "
          "kernels of the program show here, too");
    CHECK(message({.device = 2}) ==
          "solve: Cuda with device = 2, but this machine has 2; they count from 0");
    state.bytes = 12'000;
    CHECK(message({}) ==
          "Cuda: this call needs 20224 bytes of the memory of the emulated device, of which its "
          "solver object has 2560, but 9440 of 12000 are free; give fewer trajectories or save "
          "points in one call, or a smaller .memory_budget");
    CHECK(message_of([&] {
              static_cast<void>(eddy::solve(Forced{}, eddy::Bosh3{}, on_another, rates, options,
                                            EmulatedDevice{}));
          }) ==
          "Cuda: an array lies on device 1, but the call computes on device 0; copy it, or "
          "give Cuda{.device = 1}");
}
