// Lanes of one call divided among devices, and into chunks whose copies overlap with work: whoever gets
// on first, and however many there are, every lane and every sum has the bits of Serial.

#include <eddy/backends/serial.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <string>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/sanitized.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::Array;
using support::DevicePages;
using support::EmulatedDevice;
using support::EmulatedRuntime;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::same_array;

const eddy::SolveOptions options{.t1 = 1,
                                 .rtol = 1e-4,
                                 .atol = 1e-7,
                                 .save_at = {0.5, 1},
                                 .memory_budget = std::size_t{8} << 20,
                                 .stable_gradients = false};

Array varied(std::ptrdiff_t lanes, double first) {
    Array array(lanes, 2);
    for (int i = 0; i < 2; ++i) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            array(lane, i) = first + 0.01 * static_cast<double>((7 * lane + 3 * i) % 100);
    }
    return array;
}
/// Of `lanes`: rows with gaps for the parameters, one row of data for all lanes and one for each.
struct Inputs {
    Array y0, wide;
    std::vector<Array> data;

    explicit Inputs(std::ptrdiff_t lanes)
        : y0(varied(lanes, 0.2)),
          wide(varied(2 * lanes, 0.7)),
          data{varied(lanes, 0.4), Array(1, 2, 0.25)} {}
    [[nodiscard]] eddy::EnsembleView<const double> p() const {
        return {wide.data(), y0.rows(), 2, 2, wide.rows()};
    }
};

struct Setting {
    std::vector<int> devices;
    std::size_t bytes_of_chunk;
};
const std::vector<Setting> settings{
    {{}, 500}, {{1}, 3000}, {{0, 1}, std::size_t{1} << 40}, {{2, 0, 1}, 1000}};

/// check(backend) in each of the settings, with several orders of events.
template <class Check>
void in_all_settings(const Check& check, std::uint64_t num_orders = support::sanitized ? 1 : 2) {
    for (const Setting& setting : settings) {
        for (std::uint64_t seed = 1; seed <= num_orders; ++seed) {
            EmulatedRuntime::reset(seed);
            EmulatedRuntime::state.devices = 3;
            EmulatedRuntime::state.bytes_of_chunk = setting.bytes_of_chunk;
            INFO(setting.devices.size() << " devices, seed " << seed);
            check(EmulatedDevice{.devices = setting.devices});
        }
    }
    EmulatedRuntime::reset();
}

/// More parameters than lanes hand out by themselves.
struct Crowded {
    static constexpr int state_size = 1, parameter_size = 65;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0] * eddy::sum(p));
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};
struct Decay {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::vec(-y[0]); }
};

}  // namespace

TEST_CASE("device chunks: solves, with their steps, from none to many chunks") {
    for (const std::ptrdiff_t lanes : {0, 1, 33, 64, 65, 1009}) {
        const Inputs in(lanes);
        auto with_steps = options;
        with_steps.save_steps = lanes == 65;
        const auto expected =
            eddy::solve(Forced{}, eddy::Bosh3{}, in.y0, in.p(), with_steps, eddy::Serial{});
        in_all_settings([&](const EmulatedDevice& backend) {
            CAPTURE(lanes);
            const auto found =
                eddy::solve(Forced{}, eddy::Bosh3{}, in.y0, in.p(), with_steps, backend);

            CHECK(same_array(found.y(0), expected.y(0)));
            CHECK(same_array(found.y(1), expected.y(1)));
            std::ptrdiff_t different = 0;
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
                different += found.stats(lane).accepted != expected.stats(lane).accepted;
                different += found.num_steps(lane) != expected.num_steps(lane);
                for (std::ptrdiff_t k = 0; k < expected.num_steps(lane); ++k)
                    different += found.step_y(lane, k, 1) != expected.step_y(lane, k, 1);
            }
            CHECK(different == 0);
        });
    }
}

TEST_CASE("device chunks: gradients of own and of shared parameters") {
    const Array row(1, 2, 0.9);
    for (const std::ptrdiff_t lanes : {1, 130, 4200}) {
        const Inputs in(lanes);
        const auto differentiate = [&](const auto& backend, const auto& p) {
            return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, in.data, in.y0,
                                            p, options, backend);
        };
        const auto check = [&](const auto& p) {
            const auto expected = differentiate(eddy::Serial{}, p);
            in_all_settings(
                [&](const EmulatedDevice& backend) {
                    CAPTURE(lanes);
                    const auto found = differentiate(backend, p);

                    CHECK(support::same_bits(found.loss.total, expected.loss.total));
                    CHECK(found.loss.of_lane == expected.loss.of_lane);
                    CHECK(same_array(found.gradient.y0, expected.gradient.y0));
                    CHECK(same_array(found.gradient.p, expected.gradient.p));
                    CHECK(found.report.counters.pullbacks > 0);
                },
                lanes > 1000 || support::sanitized ? 1 : 2);
        };
        if (lanes < 1000) check(in.p());
        if (lanes > 1) check(eddy::shared(row));
    }
}

TEST_CASE("device chunks: sums over many shared parameters are those of one device") {
    const Array y0 = [] {
        Array array(1500, 1);
        for (std::ptrdiff_t lane = 0; lane < 1500; ++lane)
            array(lane, 0) = 1 + 0.001 * static_cast<double>(lane);
        return array;
    }();
    const std::vector<double> p(65, 0.01);
    const auto differentiate = [&](const EmulatedDevice& backend) {
        return eddy::value_and_gradient(Crowded{}, eddy::Bosh3{}, Square{}, y0, eddy::shared(p),
                                        options, backend);
    };
    const auto expected = differentiate({});

    in_all_settings([&](const EmulatedDevice& backend) {
        const auto found = differentiate(backend);

        CHECK(same_array(found.gradient.p, expected.gradient.p));
        CHECK(support::same_bits(found.loss.total, expected.loss.total));
    });
}

TEST_CASE("device chunks: a lane keeps its path of noise") {
    const Array y0(300, 1, 1.0), p(1, 2, 0.4);
    const auto solve = [&](const auto& backend) {
        return eddy::solve(support::GeometricBrownian{}, eddy::EulerMaruyama{}, y0, eddy::shared(p),
                           {.t1 = 1, .dt0 = 0.125, .seed = 7, .first_path = 5}, backend);
    };
    const auto expected = solve(eddy::Serial{});

    in_all_settings([&](const EmulatedDevice& backend) {
        CHECK(same_array(solve(backend).y(), expected.y()));
    });
}

TEST_CASE("device chunks: chunks take two streams, whose memory does not grow with the lanes") {
    const auto bytes_of = [&](std::ptrdiff_t lanes) {
        const Inputs in(lanes);
        EmulatedRuntime::reset();
        EmulatedRuntime::state.bytes_of_chunk = 4000;
        EmulatedRuntime::state.processors = 0;  // one team
        auto brief = options;
        brief.t1 = 0.05;
        brief.save_at = {};
        auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, brief, EmulatedDevice{});
        static_cast<void>(solver(in.y0, in.y0));
        CHECK(EmulatedRuntime::state.streams == 1);
        return DevicePages::num_bytes(0);
    };

    const std::size_t of_many = bytes_of(20'000), of_more = bytes_of(40'000);

    CHECK(of_more == of_many);
    CHECK(EmulatedRuntime::state.streams == 0);
}

TEST_CASE("device chunks: one team takes 100,003 lanes in the memory that it takes a fifth in") {
    const auto run = [](std::ptrdiff_t lanes, int processors, Array& last) {
        EmulatedRuntime::reset();
        EmulatedRuntime::state.processors = processors;
        const support::DeviceArray<double> y0{Array(lanes, 1, 1.0)};
        const Array p(lanes, 0);
        support::DeviceArray<double> y{Array(lanes, 1)};
        auto solver = eddy::ensemble_solver(Decay{}, eddy::Bosh3{}, {.t1 = 1, .dt0 = 0.5},
                                            eddy::ConstantController{}, EmulatedDevice{});
        const auto& solution = solver(y0, p, eddy::SolutionInto<double>{.y = y});
        CHECK(solution.success());
        last = y.values();
        const std::size_t of_arrays = static_cast<std::size_t>(lanes) * 2 * sizeof(double);
        return DevicePages::num_bytes(0) - of_arrays -
               static_cast<std::size_t>(lanes) * sizeof(eddy::LaneOutcome);
    };
    Array all(1, 1), fifth(1, 1), fifth_by_many(1, 1);

    const std::size_t of_fifth = run(20'011, 0, fifth), of_all = run(100'003, 0, all);
    static_cast<void>(run(20'011, 2, fifth_by_many));

    CHECK(of_all <= of_fifth + 256);
    CHECK(same_array(fifth, fifth_by_many));
    CHECK(all(100'002, 0) == fifth(0, 0));
}

TEST_CASE("device chunks: what does not go together is one sentence, before any work") {
    const Inputs in(100);
    const support::DeviceArray<double> there{in.y0};
    const auto message = [&](const EmulatedDevice& backend, const auto& y0) {
        EmulatedRuntime::reset();
        return message_of([&] {
            static_cast<void>(eddy::solve(Forced{}, eddy::Bosh3{}, y0, in.p(), options, backend));
        });
    };

    CHECK(message({.device = 1, .devices = {0, 1}}, in.y0) ==
          "solve: Cuda with devices, and a device or a stream besides; give one or the other");
    CHECK(message({.devices = {0, 5}}, in.y0) ==
          "solve: Cuda with device = 5, but this machine has 2; they count from 0");
    CHECK(message({.devices = {1, 1}}, in.y0) == "solve: Cuda with device 1 twice; give each once");
    CHECK(message({.devices = {0, 1}}, there) ==
          "Cuda: an array lies on device 0, but the call computes on several devices; give arrays "
          "of the host, or Cuda{.device = 0}");
    CHECK(EmulatedRuntime::state.launches == 0);
}

TEST_CASE("device chunks: a call that is cancelled ends on all devices") {
    const Inputs in(600);
    EmulatedRuntime::reset();
    EmulatedRuntime::state.bytes_of_chunk = 1000;
    std::stop_source source;
    source.request_stop();
    auto cancelled = options;
    cancelled.cancelled = source.get_token();
    cancelled.dt_max = 1e-4;

    const auto solution = eddy::solve(Forced{}, eddy::Bosh3{}, in.y0, in.p(), cancelled,
                                      EmulatedDevice{.devices = {0, 1}});

    for (std::ptrdiff_t lane = 0; lane < 600; ++lane)
        CHECK(solution.result(lane) == eddy::Result::cancelled);
    EmulatedRuntime::reset();
}
