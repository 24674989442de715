// What a backend supplies: every group worked on once, by one worker at a time, and an end to all
// of it when one throws.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

constexpr std::ptrdiff_t num_groups = 1000;

}  // namespace

TEST_CASE("backends: Serial takes groups in order, on the calling thread") {
    std::vector<std::ptrdiff_t> order;
    bool elsewhere = false;
    const auto here = std::this_thread::get_id();

    eddy::Serial{}.for_each_group(num_groups, [&](std::ptrdiff_t worker, std::ptrdiff_t group) {
        elsewhere = elsewhere || worker != 0 || std::this_thread::get_id() != here;
        order.push_back(group);
    });

    CHECK_FALSE(elsewhere);
    REQUIRE(order.size() == num_groups);
    for (std::ptrdiff_t group = 0; group < num_groups; ++group)
        REQUIRE(order[static_cast<std::size_t>(group)] == group);
    CHECK(eddy::Serial{}.num_workers(num_groups) == 1);
    CHECK(std::is_same_v<eddy::Serial::Lanes<float>, float>);
}

TEST_CASE("backends: Cpu takes every group once, and no worker two at a time") {
    for (const int threads : {1, 2, 7, 0}) {
        const eddy::Cpu cpu{.threads = threads};
        const std::ptrdiff_t workers = cpu.num_workers(num_groups);
        std::vector<std::atomic<int>> visits(num_groups), busy(static_cast<std::size_t>(workers));
        std::atomic<bool> clash{false};

        cpu.for_each_group(num_groups, [&](std::ptrdiff_t worker, std::ptrdiff_t group) {
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
            eddy::Cpu{.threads = threads}.for_each_group(
                num_groups, [&](std::ptrdiff_t, std::ptrdiff_t group) {
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
