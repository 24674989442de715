// A program of its own: it lets allocations fail.
#include <eddy/checkpoint/action_schedules.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <eddy/checkpoint/host_store.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/scheduled_loop.hpp>
#include <eddy/checkpoint/tiered_store.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/failing_allocations.hpp"

using eddy::CheckpointedLoop;
using eddy::DiskStore;
using eddy::HostStore;
using eddy::LoopOptions;
using eddy::MemoryStore;
using eddy::TieredStore;
using std::int64_t;

namespace {

using State = std::vector<double>;

struct Body {
    State advance(const State& x, int64_t step) const {
        State y = x;
        for (double& value : y) value += 0.01 * static_cast<double>(step % 7) - 0.1 * value * value;
        return y;
    }
    State pullback(const State& x, int64_t, const State& cotangent) {
        State result = cotangent;
        for (std::size_t i = 0; i < x.size(); ++i) result[i] *= 1 - 0.2 * x[i];
        return result;
    }
};

constexpr int64_t steps = 40;

State start() { return State(9, 0.5); }

template <class Store>
struct Subject {
    std::optional<CheckpointedLoop<State, Body, Store>> loop;

    State gradient() {
        loop->run(start(), [](const State&, int64_t step) { return step < steps; });
        return loop->reverse(State(9, 1.0));
    }
};

void check(const support::FailedAllocations& found, int64_t least) {
    CHECK(found.failures >= least);
    CHECK(found.exceptions > 0);
    CHECK(found.wrong == 0);
    CHECK(found.leaked == 0);
}

template <class Store, class MakeStore>
void check_store(const MakeStore& make_store, int64_t least) {
    for (const bool all_later_too : {false, true}) {
        INFO("all later allocations fail too: " << all_later_too);
        check(support::fail_each_allocation(
                  [&] {
                      Subject<Store> subject;
                      subject.loop.emplace(Body{}, LoopOptions{.checkpoints = 6}, make_store());
                      return subject;
                  },
                  [](Subject<Store>& subject) { return subject.gradient(); }, all_later_too),
              least);
    }
}

// A write that fails empties its slot and leaves the others alone.
template <class Store, class MakeStore>
int64_t damaged_slots(const MakeStore& make_store) {
    int64_t damaged = 0;
    for (int64_t nth = 1;; ++nth) {
        Store store = make_store();
        store.reserve(1'000'000'000);  // costs nothing
        const auto state = [](int64_t slot) { return State(4, static_cast<double>(slot)); };
        for (int64_t slot = 0; slot < 5; ++slot) store.write(slot, slot, state(slot));
        const State larger(1000, 2.0);
        bool has_failed = false;
        {
            const support::FailingAllocation failing(nth);
            try {
                store.write(2, 20, larger);
                store.write(5, 50, larger);
            } catch (const std::exception&) {
            }
            has_failed = failing.has_failed();
        }
        for (const int64_t slot : {0, 1, 3, 4}) damaged += store.read(slot, slot) != state(slot);
        store.write(2, 30, larger);
        damaged += store.read(2, 30) != larger;
        if (!has_failed) return damaged;
    }
}

struct RunningSum {
    std::pair<State, double> advance(const State& carry, double x, int64_t) const {
        State next = carry;
        for (double& value : next) value = 0.9 * value + x;
        return {next, next[0]};
    }
    std::pair<State, double> pullback(const State&, double, int64_t, const State& cotangent,
                                      double output_cotangent) {
        State before = cotangent;
        before[0] += output_cotangent;
        double of_input = 0;
        for (double& value : before) of_input += value, value *= 0.9;
        return {before, of_input};
    }
};

}  // namespace

TEST_CASE("failing allocations: a checkpointed loop's next run is exact, whatever its store") {
    using Memory = MemoryStore<State>;
    using Host = HostStore<State>;
    using Disk = DiskStore<State>;

    SECTION("memory") {
        check_store<Memory>([] { return Memory(); }, 100);
        CHECK(damaged_slots<Memory>([] { return Memory(); }) == 0);
    }
    SECTION("host") {
        check_store<Host>([] { return Host(); }, 100);
        CHECK(damaged_slots<Host>([] { return Host(); }) == 0);
    }
    SECTION("disk") {
        check_store<Disk>([] { return Disk({.buffers = 2}); }, 100);
        CHECK(damaged_slots<Disk>([] { return Disk(); }) == 0);
    }
    SECTION("tiered") {
        check_store<TieredStore<State, Memory, Disk>>(
            [] { return TieredStore<State, Memory, Disk>(2); }, 100);
        CHECK(damaged_slots<TieredStore<State, Memory, Disk>>(
                  [] { return TieredStore<State, Memory, Disk>(2); }) == 0);
    }
}

TEST_CASE("failing allocations: loops of unlike options, made anew, are exact the next time") {
    int64_t checkpoints = 2;  // another placement table each time
    const auto gradient = [&](const LoopOptions& options) {
        CheckpointedLoop<State, Body> loop(Body{}, options);
        loop.run(start(), [](const State&, int64_t step) { return step < steps; });
        return loop.reverse(State(9, 1.0));
    };
    for (const bool all_later_too : {false, true}) {
        const auto found = support::fail_each_allocation(
            [&] { return gradient({.checkpoints = 2 + checkpoints++ % 60}); }, all_later_too);
        CHECK(found.failures >= 100);
        CHECK(found.wrong == 0);  // tables stay, so that live memory says nothing
        check(support::fail_each_allocation(
                  [&] { return gradient({.checkpoints = 5, .determinism_check = true}); },
                  all_later_too),
              100);
    }
}

TEST_CASE("failing allocations: a placement table yields what its generator does") {
    const auto stores = [](eddy::PlacementTable<eddy::CostGreedy>& table) {
        std::vector<int64_t> steps_and_slots;
        for (int64_t index = 0; index < 5000;) {
            for (const eddy::Placed& placed : table.from(index)) {
                steps_and_slots.push_back(placed.step);
                steps_and_slots.push_back(placed.slot);
                ++index;
            }
        }
        steps_and_slots.resize(10'000);  // pieces differ in length
        return steps_and_slots;
    };
    const auto wrapped = [&](std::unique_ptr<eddy::PlacementTable<eddy::CostGreedy>>& table) {
        return stores(*table);
    };
    check(support::fail_each_allocation(
              [] { return std::make_unique<eddy::PlacementTable<eddy::CostGreedy>>(16); }, wrapped,
              false),
          5);
}

TEST_CASE("failing allocations: scans and loops that follow a list are exact the next time") {
    const auto scan_gradient = [] {
        auto scan = eddy::checkpoint_scan(RunningSum{}, start(), std::vector<double>(30, 0.25),
                                          {.checkpoints = 4});
        auto [carry, inputs] = scan.reverse(State(9, 1.0), std::vector<double>(30, 0.5));
        carry.insert(carry.end(), inputs.begin(), inputs.end());
        return carry;
    };
    const eddy::ActionList actions = eddy::loop_actions(30, {.checkpoints = 4, .length = 30});
    using Listed = eddy::ScheduledLoop<State, Body, MemoryStore<State>>;
    for (const bool all_later_too : {false, true}) {
        check(support::fail_each_allocation(scan_gradient, all_later_too), 100);
        check(support::fail_each_allocation(
                  [&] { return Listed(Body{}, actions, MemoryStore<State>()); },
                  [](Listed& loop) {
                      loop.run(start());
                      State result = loop.reverse(State(9, 1.0));
                      result.push_back(static_cast<double>(loop.counters().recomputed));
                      return result;
                  },
                  all_later_too),
              100);
    }
}
