// What a backend supplies: every group worked on once, by one worker at a time, and an end to all
// of it when one throws.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/backend.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

constexpr std::ptrdiff_t num_groups = 1000;

using Kept = eddy::KeptThreads;

/// Work that takes `per_group` at least, and counts the groups.
struct Counted {
    Kept* kept;
    std::chrono::microseconds per_group{0};
    std::atomic<std::ptrdiff_t> groups{0}, elsewhere{0};
    std::thread::id here = std::this_thread::get_id();

    void operator()(std::ptrdiff_t, std::ptrdiff_t) {
        const auto end = std::chrono::steady_clock::now() + per_group;
        while (std::chrono::steady_clock::now() < end) kept->call_others();
        ++groups;
        if (std::this_thread::get_id() != here) ++elsewhere;
    }
};
/// Calls with work that is worth several threads.
std::ptrdiff_t groups_of_long_call(Kept& kept, std::ptrdiff_t most_workers) {
    Counted work{&kept, std::chrono::microseconds(500)};
    kept.for_each_group(40, most_workers, work);
    return work.groups;
}

struct OnePlace {
    static constexpr int num_places = 1;
};
struct Warp {
    static constexpr int num_chains = 1, num_members = 32;
};
/// A kernel that calls visit(worker, group) for groups of one lane.
template <class Visit>
struct Visiting {
    using Spec = OnePlace;
    const Visit& visit;

    template <class Team>
    [[nodiscard]] int lay_out(eddy::detail::Arena&, int) const {
        return 0;
    }
    template <class Team>
    void operator()(Team& team, eddy::detail::Arena) const {
        visit(team.worker(), team.first_lane());
    }
};
/// A kernel whose work(team, numbers) has 5,000 numbers.
template <class Work>
struct Writing {
    using Spec = OnePlace;
    const Work& work;

    template <class Team>
    [[nodiscard]] double* lay_out(eddy::detail::Arena& arena, int) const {
        return arena.take<double>(5000);
    }
    template <class Team>
    void operator()(Team& team, eddy::detail::Arena arena) const {
        work(team, lay_out<Team>(arena, 0));
    }
};
template <class Backend, class Visit>
void launch(const Backend& backend, std::ptrdiff_t groups, const Visit& visit) {
    static_assert(eddy::Backend<Backend>);
    typename Backend::Kept kept;
    eddy::detail::CallLink call;
    backend.launch({groups, 1, backend.num_workers(groups)}, Visiting<Visit>{visit}, call, kept);
}

/// While one lives, no thread can be started: there is no room for its stack.
class NoMoreThreads {
  public:
    NoMoreThreads() {
        pthread_getattr_default_np(&before_);
        pthread_attr_t attributes;
        pthread_getattr_default_np(&attributes);
        pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    ~NoMoreThreads() {
        pthread_setattr_default_np(&before_);
        pthread_attr_destroy(&before_);
    }
    NoMoreThreads(const NoMoreThreads&) = delete;
    NoMoreThreads& operator=(const NoMoreThreads&) = delete;

  private:
    pthread_attr_t before_;
};

}  // namespace

TEST_CASE("backends: Serial computes in plain numbers, by one worker") {
    CHECK(eddy::Backend<eddy::Serial>);
    CHECK(std::is_same_v<eddy::Serial::Lanes<float>, float>);
    CHECK(eddy::Serial{}.num_workers(num_groups) == 1);
}

TEST_CASE("backends: Cpu takes every group once, and no worker two at a time") {
    for (const int threads : {1, 2, 7, 0}) {
        const eddy::Cpu cpu{.threads = threads};
        const std::ptrdiff_t workers = cpu.num_workers(num_groups);
        std::vector<std::atomic<int>> visits(num_groups), busy(static_cast<std::size_t>(workers));
        std::atomic<bool> clash{false};

        launch(cpu, num_groups, [&](std::ptrdiff_t worker, std::ptrdiff_t group) {
            auto& own = busy.at(static_cast<std::size_t>(worker));
            if (own.fetch_add(1) != 0) clash = true;
            ++visits.at(static_cast<std::size_t>(group));
            own.fetch_sub(1);
        });

        CAPTURE(threads);
        CHECK_FALSE(clash);
        bool once = true;
        for (const auto& count : visits) once = once && count == 1;
        CHECK(once);
    }
}

TEST_CASE("backends: the last groups of a way forward leave few workers with nothing to do") {
    const auto of_busiest = [](std::ptrdiff_t size, std::ptrdiff_t lanes, std::ptrdiff_t workers) {
        return (lanes + size * workers - 1) / (size * workers) * size;
    };

    for (const std::ptrdiff_t lanes : {1, 32, 1024, 32768, 524288, 1048576, 10000019}) {
        for (const std::ptrdiff_t workers : {1, 2, 96, 1056, 1584, 2640}) {
            const auto size =
                eddy::detail::balanced_lanes_per_group<OnePlace, Warp>(lanes, workers);
            const auto of_four = eddy::detail::lanes_per_group<OnePlace, Warp>(lanes, 4 * workers);
            CAPTURE(lanes, workers, size, of_four);
            CHECK(size % 32 == 0);
            CHECK(of_busiest(size, lanes, workers) <= of_busiest(of_four, lanes, workers));
        }
    }
    CHECK(eddy::detail::balanced_lanes_per_group<OnePlace, Warp>(1048576, 1584) == 7 * 32);
}

TEST_CASE("backends: a worker's arena holds what the kernel lays out, and is kept") {
    eddy::Cpu::Kept kept;
    eddy::detail::CallLink call_link;
    const eddy::LaunchPlan plan{.num_lanes = 10, .group_size = 4};
    std::vector<const double*> seen;
    std::vector<std::int32_t> lanes;
    const auto write_all = [&](auto& team, double* numbers) {
        for (int i = 0; i < 5000; ++i) numbers[i] = i;
        seen.push_back(numbers);
        lanes.push_back(team.num_lanes());
    };

    for (int call = 0; call < 2; ++call)
        eddy::Cpu{}.launch(plan, Writing<decltype(write_all)>{write_all}, call_link, kept);

    CHECK(lanes == std::vector<std::int32_t>{4, 4, 2, 4, 4, 2});
    CHECK(std::all_of(seen.begin(), seen.end(), [&](auto* numbers) { return numbers == seen[0]; }));
}

TEST_CASE("backends: Cpu has no more workers than groups or than it was given") {
    CHECK(eddy::Cpu{.threads = 4}.num_workers(100) == 4);
    CHECK(eddy::Cpu{.threads = 4}.num_workers(3) == 3);
    CHECK(eddy::Cpu{.threads = 4}.num_workers(0) == 1);
    CHECK(eddy::Cpu{.threads = 1}.num_workers(100) == 1);
    CHECK(eddy::Cpu{}.num_workers(1 << 20) >= 1);
}

TEST_CASE("backends: the first exception ends the call, once every worker has stopped") {
    for (const int threads : {1, 3}) {
        std::atomic<int> running{0}, begun{0};
        const std::string message = support::message_of([&] {
            launch(eddy::Cpu{.threads = threads}, num_groups,
                   [&](std::ptrdiff_t, std::ptrdiff_t group) {
                       ++begun;
                       ++running;
                       if (group == 5) {
                           --running;
                           throw std::runtime_error("group 5");
                       }
                       std::this_thread::sleep_for(std::chrono::microseconds(100));
                       --running;
                   });
        });

        CHECK(message == "group 5");
        CHECK(running == 0);
        CHECK(begun < num_groups);
    }
}

TEST_CASE("backends: threads are started once, where a call is long, and kept") {
    Kept kept;
    CHECK(kept.num_started() == 0);

    CHECK(groups_of_long_call(kept, 3) == 40);
    CHECK(kept.num_started() == 2);
    for (int call = 0; call < 20; ++call) CHECK(groups_of_long_call(kept, 3) == 40);
    CHECK(kept.num_started() == 2);
    CHECK(groups_of_long_call(kept, 2) == 40);
    CHECK(groups_of_long_call(kept, 5) == 40);
    CHECK(kept.num_started() == 4);

    Counted one_group{&kept, std::chrono::milliseconds(5)};
    kept.for_each_group(1, 5, one_group);
    CHECK(one_group.groups == 1);
    CHECK(one_group.elsewhere == 0);
}

TEST_CASE("backends: calls of any length follow each other, and every group is done once") {
    Kept kept;
    for (int call = 0; call < 2000; ++call) {
        const std::ptrdiff_t groups = call % 23;
        Counted work{&kept, std::chrono::microseconds(call % 100 == 0 ? 200 : call % 7)};
        kept.for_each_group(groups, 4, work);
        REQUIRE(work.groups == groups);
    }
}

TEST_CASE("backends: an exception of any worker ends one call, and the next is as ever") {
    Kept kept;
    for (int call = 0; call < 20; ++call) {
        std::atomic<int> running{0};
        const auto work = [&](std::ptrdiff_t worker, std::ptrdiff_t) {
            ++running;
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            kept.call_others();
            --running;
            if (worker == call % 2) throw std::runtime_error("worker " + std::to_string(worker));
        };
        const auto message = support::message_of([&] { kept.for_each_group(100, 2, work); });
        CHECK((message.empty() || message == "worker " + std::to_string(call % 2)));
        CHECK((call % 2 == 1 || !message.empty()));
        CHECK(running == 0);
        CHECK(groups_of_long_call(kept, 2) == 40);
    }
}

TEST_CASE("backends: a thread that cannot be started is done without") {
    Kept kept;
    {
        const NoMoreThreads none;
        CHECK(groups_of_long_call(kept, 4) == 40);
        CHECK(kept.num_started() == 0);
    }
    CHECK(groups_of_long_call(kept, 4) == 40);
    CHECK(kept.num_started() == 3);
}

TEST_CASE("backends: threads that were moved are used by their new owner, from any thread") {
    Kept first;
    CHECK(groups_of_long_call(first, 2) == 40);

    Kept second = std::move(first);
    CHECK(second.num_started() == 1);
    CHECK(first.num_started() == 0);
    std::thread elsewhere([&] { CHECK(groups_of_long_call(second, 2) == 40); });
    elsewhere.join();
    CHECK(second.num_started() == 1);
    CHECK(groups_of_long_call(first, 2) == 40);
    const Kept copy = second;
    CHECK(copy.num_started() == 0);
    second = Kept{};
    CHECK(second.num_started() == 0);
}
