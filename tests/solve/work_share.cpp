// Ranks do parts of each other's work: whoever does which, each has what comes of its own, costs are balanced, and all end
// together, wherever one of them fails. Threads stand for ranks.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <eddy/solve/ranks/local_ranks.hpp>
#include <eddy/solve/ranks/work_share.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::detail::PartRange;
using eddy::detail::RankLink;
using eddy::detail::RankWork;
using eddy::detail::share_work;
using Group = std::shared_ptr<eddy::detail::RankGroup>;
using Message = eddy::detail::RankWire::Message;

enum class At { nowhere, run, packed, run_packed, take_back };

/// Squares numbers: a part is one of them.
struct Squares final : RankWork {
    std::vector<std::int64_t> numbers, squares = std::vector<std::int64_t>(numbers.size(), -1);
    std::uint64_t of_kind = 7;
    At fails = At::nowhere;
    std::function<void(std::int64_t)> work = [](std::int64_t) {};
    std::atomic<bool> is_stopped{false};
    std::int64_t num_taken = 0;  // of others' parts

    explicit Squares(std::vector<std::int64_t> all) : numbers(std::move(all)) {}
    void fail(At here) const {
        if (fails == here) throw std::runtime_error("broke");
    }
    [[nodiscard]] std::int64_t square(std::int64_t number) const {
        if (is_stopped) return -2;
        work(number);
        return number * number;
    }
    [[nodiscard]] std::uint64_t kind() const override { return of_kind; }
    void run(const PartRange& parts) override {
        fail(At::run);
        for (std::int64_t k = parts.first; k < parts.first + parts.count; ++k)
            squares[static_cast<std::size_t>(k)] = square(numbers[static_cast<std::size_t>(k)]);
    }
    [[nodiscard]] Message packed(const PartRange& parts) override {
        fail(At::packed);
        Message message(static_cast<std::size_t>(parts.count) * 8);
        std::memcpy(message.data(), numbers.data() + parts.first, message.size());
        return message;
    }
    [[nodiscard]] Message run_packed(const Message& parts) override {
        fail(At::run_packed);
        std::vector<std::int64_t> given(parts.size() / 8);
        std::memcpy(given.data(), parts.data(), parts.size());
        for (std::int64_t& number : given) number = square(number);
        num_taken += std::ssize(given);
        Message result(parts.size());
        std::memcpy(result.data(), given.data(), result.size());
        return result;
    }
    void take_back(const PartRange& parts, const Message& result) override {
        fail(At::take_back);
        std::memcpy(squares.data() + parts.first, result.data(), result.size());
    }
    void stop() noexcept override { is_stopped = true; }
};

/// A call of a rank, of work that has been prepared.
void call(const Group& group, Squares& work, std::int64_t at_a_time = 1) {
    RankLink(group).in_call("call", [&] {
        static_cast<void>(group->agree({}, 1));
        share_work(*group, work, std::ssize(work.numbers), at_a_time);
    });
}
std::vector<std::int64_t> some(int rank, std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) numbers[static_cast<std::size_t>(k)] = 1000 * rank + k;
    return numbers;
}
void nap(std::int64_t microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

}  // namespace

TEST_CASE("work_share: each rank has what comes of its own parts, each done once") {
    for (const int ranks : {1, 2, 3, 5, 20}) {
        for (const std::int64_t each : {0, 1, 40, 700}) {
            std::atomic<std::int64_t> num_done{0}, wanted{0};
            std::atomic<int> wrong{0};
            eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                for (int repeat = 0; repeat < 2; ++repeat) {
                    Squares work(some(group->rank(), each * (group->rank() % 3)));
                    work.work = [&](std::int64_t) {
                        if (++num_done % 16 == 0 && each == 700) nap(10);
                    };
                    call(group, work, 1 + repeat * 7);
                    wanted += std::ssize(work.numbers);
                    for (std::size_t k = 0; k < work.numbers.size(); ++k)
                        wrong += work.squares[k] != work.numbers[k] * work.numbers[k];
                }
            });
            CAPTURE(ranks, each);
            CHECK(wrong == 0);
            CHECK(num_done == wanted);
        }
    }
}

TEST_CASE("work_share: costs 1 : 30 are balanced, by few messages") {
    constexpr int ranks = 4;
    constexpr std::int64_t each = 128;
    std::vector<std::int64_t> costs(ranks), messages(ranks);
    const auto cost_of = [](std::int64_t number) {
        return number >= 3000 + each / 2 ? std::int64_t{30} : std::int64_t{1};
    };
    eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
        const auto rank = static_cast<std::size_t>(group->rank());
        Squares work(some(group->rank(), each));
        work.work = [&](std::int64_t number) {
            costs[rank] += cost_of(number);
            nap(200 * cost_of(number));  // long beside what it takes to wake a thread
        };
        call(group, work);
        messages[rank] = group->traffic().messages;
    });
    std::int64_t all = 0;
    for (const std::int64_t cost : costs) all += cost;
    const std::int64_t by_count = each / 2 * 31;
    CHECK(all == 3 * each + by_count);
    const double mean = static_cast<double>(all) / ranks;
    CAPTURE(costs[0], costs[1], costs[2], costs[3], messages[0], messages[3]);
    CHECK(static_cast<double>(by_count) > 3 * mean);
    CHECK(static_cast<double>(*std::max_element(costs.begin(), costs.end())) < 1.5 * mean);
    CHECK(*std::max_element(messages.begin(), messages.end()) < 200);
}

TEST_CASE(
    "work_share: a rank that fails anywhere ends the call on all, and the next is a good one") {
    for (const int ranks : {2, 3, 4}) {
        for (const At at : {At::run, At::packed, At::run_packed, At::take_back}) {
            for (int failing = 0; failing < ranks; ++failing) {
                std::vector<std::string> said(static_cast<std::size_t>(ranks)), after(said);
                eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                    // The failing rank has all parts, or none where it is to do others'.
                    const bool is_it = group->rank() == failing,
                               has_parts = is_it != (at == At::run_packed);
                    Squares work(some(group->rank(), has_parts ? 64 : 0));
                    work.work = [](std::int64_t) { nap(200); };
                    work.fails = is_it ? at : At::nowhere;
                    const auto rank = static_cast<std::size_t>(group->rank());
                    said[rank] = support::message_of([&] { call(group, work); });
                    Squares good(some(group->rank(), 5));
                    after[rank] = support::message_of([&] { call(group, good); });
                    if (good.squares.back() != good.numbers.back() * good.numbers.back())
                        after[rank] += "not done";
                });
                CAPTURE(ranks, static_cast<int>(at), failing);
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto index = static_cast<std::size_t>(rank);
                    CHECK(said[index] == (rank == failing
                                              ? "broke"
                                              : "call: rank " + std::to_string(failing) +
                                                    " has ended the call: broke"));
                    CHECK(after[index].empty());
                }
            }
        }
    }
}

TEST_CASE("work_share: a call that is stopped leaves no part without a result") {
    for (const int ranks : {2, 3, 4}) {
        for (int stopping = 0; stopping < ranks; ++stopping) {
            std::atomic<int> without{0}, undone{0};
            eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                Squares work(some(group->rank(), group->rank() == 0 ? 400 : 3));
                work.work = [&](std::int64_t) {
                    nap(1'000);
                    if (group->rank() == stopping && ++undone == 2) group->stop();
                    if (!group->goes_on()) work.stop();
                };
                call(group, work);
                without += static_cast<int>(
                    std::count(work.squares.begin(), work.squares.end(), std::int64_t{-1}));
                if (group->rank() == 0)
                    undone = static_cast<int>(
                        std::count(work.squares.begin(), work.squares.end(), std::int64_t{-2}));
            });
            CAPTURE(ranks, stopping);
            CHECK(without == 0);
            CHECK(undone > 0);
        }
    }
}

TEST_CASE("work_share: work of another kind is left where it is") {
    std::vector<std::int64_t> taken(2);
    eddy::detail::run_local_ranks(2, [&](const Group& group) {
        Squares work(some(group->rank(), group->rank() * 50));
        work.of_kind = static_cast<std::uint64_t>(group->rank());
        work.work = [](std::int64_t) { nap(100); };
        call(group, work);
        taken[static_cast<std::size_t>(group->rank())] = work.num_taken;
    });
    CHECK(taken == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("work_share: a rank that falls silent with another's parts is named") {
    std::vector<std::string> said(2);
    eddy::detail::run_local_ranks(2, [&](const Group& group) {
        group->set_time_out(0.3);
        Squares work(some(group->rank(), group->rank() == 0 ? 8 : 0));
        work.work = [&](std::int64_t) { nap(group->rank() == 1 ? 1'500'000 : 1'000); };
        said[static_cast<std::size_t>(group->rank())] =
            support::message_of([&] { call(group, work); });
    });
    CHECK(said[0] ==
          "rank 1 has given no answer for 0.3 s; see what it does, or give a longer time_out");
    CHECK(!said[1].empty());
}
