// Solver objects in tiles: a second call allocates nothing, and what an allocation that fails or a call that
// is cancelled leaves behind spoils no later one. A program of its own: it counts every allocation of the process.

#include <algorithm>
#include <cmath>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "backends/small_training.hpp"
#include "support/alarm.hpp"
#include "support/catch.hpp"
#include "support/failing_allocations.hpp"
#include "support/sanitized.hpp"

namespace {

constexpr auto network = eddy::nn::mlp<2, 5, 2>(eddy::nn::tanh);
constexpr int lanes = support::SmallTraining<float>::lanes;

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

struct Training : support::SmallTraining<float> {
    Training() : SmallTraining(network) {}
};

const eddy::SolveOptions options{.t1 = support::sanitized ? 0.25 : 1, .rtol = 1e-4, .atol = 1e-6};

using Alarm = support::Alarm<eddy::PIDController>;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// check(make) for gradients by steps of each lane's own, by steps of all, and by a log that is too short.
template <class Check>
void for_each_solver(int threads, const Check& check) {
    eddy::SolveOptions small = options;
    small.memory_budget = 1;
    check([=] {
        return eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options,
                                     eddy::Tiles{.threads = threads});
    });
    check([=] {
        return eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, small,
                                     eddy::Tiles{.threads = threads});
    });
    check([=] {
        return eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options,
                                     eddy::JointController{}, eddy::Tiles{.threads = threads});
    });
}

}  // namespace

TEST_CASE("tiles: the equation made of a constant graph is what its trace at run time makes") {
    using Field = std::remove_cvref_t<decltype(network)>;
    const eddy::RuntimeField traced(eddy::trace_graph(network, eddy::Scalar{},
                                                      eddy::Vector<Field::state_size>{},
                                                      eddy::Vector<Field::parameter_size>{}));

    const eddy::Graph& made = *eddy::detail::field_on_rows<Field>()->graph();
    const eddy::Graph& expected = *traced.maker()->graph();
    REQUIRE(made.size() == expected.size());
    for (int i = 0; i < made.size(); ++i) {
        CHECK(made[i].op == expected[i].op);
        CHECK(made[i].size == expected[i].size);
        CHECK(made[i].first == expected[i].first);
    }
    CHECK(std::ranges::equal(made.operands, expected.operands));
    CHECK(std::ranges::equal(made.constants, expected.constants));
}

TEST_CASE("tiles: the second call of a solver or gradient allocates nothing and gives the same") {
    const Training training;

    for_each_solver(1, [&](const auto& make) {
        auto solver = make();
        const auto first = training.gradient(solver);
        CHECK(support::allocations_of([&] {
                  static_cast<void>(solver(training.data, training.y0, eddy::shared(training.p)));
              }) == 0);
        CHECK(training.gradient(solver) == first);
    });
    auto forward =
        eddy::ensemble_solver(network, eddy::Tsit5{}, options, eddy::Tiles{.threads = 1});
    const auto solve = [&] {
        return forward(training.y0, eddy::shared(training.p)).y()(lanes - 1, 1);
    };
    const float end = solve();
    CHECK(support::allocations_of([&] { static_cast<void>(solve()); }) == 0);
    CHECK(solve() == end);
}

TEST_CASE("tiles: an allocation that fails is told, and spoils no later call") {
    const Training training;

    for (const int threads : {1, 2}) {
        for_each_solver(threads, [&](const auto& make) {
            for (const bool all_later_too : {false, true}) {
                INFO(threads << " threads, all later allocations fail too: " << all_later_too);
                const auto found = support::fail_each_allocation(
                    make, [&](auto& solver) { return training.gradient(solver); }, all_later_too);
                CHECK(found.failures >= 10);
                CHECK(found.exceptions > 0);
                CHECK(found.wrong == 0);
                CHECK(found.leaked == 0);
            }
        });
    }
}

TEST_CASE(
    "tiles: a cancelled gradient is that of the lanes that were done, and the next is whole") {
    const std::vector<double> p = eddy::nn::glorot_uniform<double>(network, 7);
    const eddy::EnsembleArray<double> y0(lanes, 2, 0.5), data(1, 2, 0.25);
    eddy::SolveOptions stoppable{.t1 = 1, .rtol = 1e-6};
    const auto differentiate = [&](std::int64_t calls) {
        Alarm::source = std::stop_source{};
        Alarm::left = calls;
        stoppable.cancelled = Alarm::source.get_token();
        return eddy::value_and_gradient(network, eddy::Tsit5{}, SquaredError{}, data, y0,
                                        eddy::shared(p), stoppable, Alarm{},
                                        eddy::Tiles{.threads = 1});
    };
    const auto whole = differentiate(never);
    const std::int64_t calls = never - Alarm::left;
    const auto result = differentiate(calls / 2);

    std::ptrdiff_t complete = 0;
    while (complete < lanes && result.report.result(complete) == eddy::Result::success) ++complete;
    CHECK(complete > 0);
    CHECK(complete < lanes);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        CHECK(result.report.result(lane) ==
              (lane < complete ? eddy::Result::success : eddy::Result::cancelled));
        CHECK((result.gradient.y0(lane, 0) != 0) == (lane < complete));
    }
    const double share = static_cast<double>(complete) / lanes;
    CHECK(std::abs(result.loss.total_of_successful - share * whole.loss.total) <
          1e-12 * whole.loss.total);
    for (std::ptrdiff_t i = 0; i < network.parameter_size; ++i)
        CHECK(std::abs(result.gradient.p(0, i) - share * whole.gradient.p(0, i)) < 1e-12);

    // A training whose step was cancelled by what it is asked goes on with the same object.
    const Training training;
    eddy::SolveOptions asking = options;
    bool goes_on = false;
    asking.poll = [&] { return goes_on; };
    auto solver = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, asking,
                                        eddy::Tiles{.threads = 1});
    static_cast<void>(training.gradient(solver));
    goes_on = true;
    auto unasked = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options,
                                         eddy::Tiles{.threads = 1});
    CHECK(training.gradient(solver) == training.gradient(unasked));
}
