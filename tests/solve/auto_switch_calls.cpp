// A program of its own: it counts what calls by two methods allocate, and lets allocations fail.
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <vector>

#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"
#include "support/failing_allocations.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace switching;
using support::allocations_of;
using support::same_array;
using support::same_bits;

const eddy::Cpu one_thread{.threads = 1};

/// All numbers of a solution, and who made them.
template <class Solution>
std::vector<double> numbers(const Solution& solution) {
    std::vector<double> all;
    for (std::ptrdiff_t lane = 0; lane < solution.num_lanes(); ++lane) {
        all.push_back(solution.switched(lane) ? 1 : 0);
        all.push_back(static_cast<double>(solution.stats(lane).accepted));
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k)
            all.push_back(solution.y(k)(lane, 0) + solution.y(k)(lane, 1));
        for (std::ptrdiff_t k = 0; k < solution.num_steps(lane); ++k)
            all.push_back(solution.step_t(lane, k) + solution.step_y(lane, k, 0));
    }
    return all;
}

}  // namespace

TEST_CASE("AutoSwitch: the second call of a solver allocates nothing and gives the same") {
    const Lanes lanes(40), fewer(23);
    const auto wanted = eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, options, one_thread);
    auto solver = eddy::ensemble_solver(Field{}, Both{}, options, one_thread);
    const auto allocations = [&](const Lanes& some) {
        return allocations_of([&] { static_cast<void>(solver(some.y0, some.p)); });
    };

    CHECK(allocations(lanes) > 0);
    CHECK(solver(lanes.y0, lanes.p).num_switched() > 10);
    CHECK(allocations(lanes) == 0);
    allocations(fewer);

    CHECK(numbers(solver(lanes.y0, lanes.p)) == numbers(wanted));
}

TEST_CASE("AutoSwitch: the second gradient of a solver allocates nothing and gives the same") {
    const Lanes lanes(40);
    const std::vector<double> shared_mu{300};
    auto asked = options;
    asked.stable_gradients = false;  // lanes that are solved once more are a call of their own
    const auto check = [&](const auto& p) {
        const auto wanted = eddy::value_and_gradient(Field{}, Both{}, FirstSquared{}, lanes.y0, p,
                                                     asked, one_thread);
        auto solver = eddy::gradient_solver(Field{}, Both{}, FirstSquared{}, asked, one_thread);
        static_cast<void>(solver(lanes.y0, p));

        CHECK(allocations_of([&] { static_cast<void>(solver(lanes.y0, p)); }) == 0);
        const auto& again = solver(lanes.y0, p);
        CHECK(again.report.num_switched() > 10);
        CHECK(same_bits(again.loss.total, wanted.loss.total));
        CHECK(same_array(again.gradient.y0, wanted.gradient.y0));
        CHECK(same_array(again.gradient.p, wanted.gradient.p));
    };

    check(lanes.p);
    check(eddy::shared(shared_mu));
}

TEST_CASE("AutoSwitch: an allocation that fails, in either pass, leaves a solver that works") {
    const Lanes lanes(support::sanitized ? 7 : 20);
    auto asked = options;
    asked.save_steps = true;
    const auto num_switched =
        eddy::solve(Field{}, Both{}, lanes.y0, lanes.p, asked, one_thread).num_switched();
    REQUIRE(num_switched > 0);
    REQUIRE(num_switched < lanes.y0.rows());

    for (const bool all_later_too : {false, true}) {
        const auto found = support::fail_each_allocation(
            [&] { return eddy::ensemble_solver(Field{}, Both{}, asked, one_thread); },
            [&](auto& solver) { return numbers(solver(lanes.y0, lanes.p)); }, all_later_too);
        CHECK(found.failures >= 20);
        CHECK(found.exceptions > 0);
        CHECK(found.wrong == 0);
        CHECK(found.leaked == 0);
    }
}
