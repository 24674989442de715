// Ranks take rows from each other: whoever does which, the sum has the bits of one machine, costs are balanced, and all
// end together. Threads stand for ranks.

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/ranks/stealing.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/rank_threads.hpp"

namespace {

using eddy::RankRows;
using eddy::detail::NodeSum;
using Group = std::shared_ptr<eddy::detail::RankGroup>;
using Ranks = support::ThreadRanks<eddy::Cpu>;

template <class Real>
Real number(std::ptrdiff_t row) {
    return static_cast<Real>(1. / static_cast<double>(3 + row * 7919 % 1009) - 0.01);
}
template <class Real>
std::vector<Real> sum_of(const RankRows& rows) {
    return {eddy::detail::sum_over_lanes<Real>(
        rows.count, [&](std::ptrdiff_t k) { return number<Real>(rows.first + k); })};
}

}  // namespace

TEST_CASE("stealing: parts in any order have the bits of one machine") {
    std::mt19937 random(5);
    for (const std::int64_t leaves : {1, 2, 3, 7, 64, 999}) {
        std::vector<NodeSum::Node> nodes;
        for (std::int64_t leaf = 0; leaf < leaves; ++leaf)
            nodes.push_back({leaf, 0, sum_of<double>({leaf * 64, 64})});
        for (int trial = 0; trial < 5; ++trial) {
            std::shuffle(nodes.begin(), nodes.end(), random);
            NodeSum parts[2];
            for (const auto& node : nodes) parts[random() % 2].add(node);
            parts[0].append(parts[1]);
            CHECK(parts[0].num_nodes() == std::popcount(static_cast<std::uint64_t>(leaves)));
            CHECK(parts[0].total() == sum_of<double>({0, leaves * 64}));
        }
    }
    CHECK(NodeSum().total().empty());
}

TEMPLATE_TEST_CASE("stealing: each row is done once, and the sum is that of one call", "", float,
                   double) {
    for (const std::ptrdiff_t rows : {0, 1, 700, 5'000, 20'000}) {
        for (const int ranks : {1, 2, 3, 5, 20}) {
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(rows));
            std::atomic<int> right{0};
            support::run_local_ranks(ranks, [&](const Group& group) {
                const auto total = eddy::sum_by_stealing(
                    Ranks{{}, group}, rows,
                    [&](const RankRows& some) {
                        for (std::ptrdiff_t k = 0; k < some.count; ++k)
                            ++done[static_cast<std::size_t>(some.first + k)];
                        return sum_of<TestType>(some);
                    },
                    100 + 400 * (ranks % 2));
                right += rows == 0 ? total.empty() : total == sum_of<TestType>({0, rows});
            });
            CAPTURE(rows, ranks);
            CHECK(right == ranks);
            CHECK(std::all_of(done.begin(), done.end(), [](const auto& n) { return n == 1; }));
        }
    }
    // Without ranks it is one call.
    CHECK(eddy::sum_by_stealing(eddy::Cpu{}, 700, sum_of<TestType>) == sum_of<TestType>({0, 700}));
}

TEST_CASE("stealing: costs 1 : 30 are balanced, and few parts are sent") {
    constexpr std::ptrdiff_t rows = 8'192;
    constexpr int ranks = 4;
    const auto cost_of = [](const RankRows& some) {
        std::int64_t cost = 0;
        for (std::ptrdiff_t k = some.first; k < some.first + some.count; ++k)
            cost += k >= rows / 8 * 7 ? 30 : 1;
        return cost;
    };
    std::vector<std::int64_t> costs(ranks), messages(ranks);
    support::run_local_ranks(ranks, [&](const Group& group) {
        const auto rank = static_cast<std::size_t>(group->rank());
        static_cast<void>(eddy::sum_by_stealing(
            Ranks{{}, group}, rows,
            [&](const RankRows& some) {
                costs[rank] += cost_of(some);
                // Long beside what it takes a machine that is busy to wake a thread.
                std::this_thread::sleep_for(std::chrono::microseconds(32 * cost_of(some)));
                return sum_of<double>(some);
            },
            64));
        messages[rank] = group->traffic().messages;
    });
    std::int64_t all = 0;
    for (const std::int64_t cost : costs) all += cost;
    CHECK(all == cost_of({0, rows}));
    const auto by_count = cost_of({rows / 4 * 3, rows / 4});
    const double mean = static_cast<double>(all) / ranks;
    CAPTURE(costs[0], costs[1], costs[2], costs[3]);
    CHECK(static_cast<double>(by_count) > 3 * mean);
    CHECK(static_cast<double>(*std::max_element(costs.begin(), costs.end())) < 1.5 * mean);
    CHECK(*std::max_element(messages.begin(), messages.end()) < 200);
}

TEST_CASE("stealing: a rank that throws ends the call on all with its sentence") {
    for (const int ranks : {2, 3, 4}) {
        for (int failing = 0; failing < ranks; ++failing) {
            std::vector<std::string> said(static_cast<std::size_t>(ranks)), after(said);
            support::run_local_ranks(ranks, [&](const Group& group) {
                const auto call = [&](bool fails) {
                    return support::message_of([&] {
                        static_cast<void>(eddy::sum_by_stealing(
                            Ranks{{}, group}, 5'000,
                            [&](const RankRows& some) {
                                if (fails) throw std::runtime_error("broke");
                                std::this_thread::yield();
                                return sum_of<double>(some);
                            },
                            64));
                    });
                };
                const auto rank = static_cast<std::size_t>(group->rank());
                said[rank] = call(group->rank() == failing);
                after[rank] = call(false);
            });
            for (int rank = 0; rank < ranks; ++rank) {
                const std::string own = "broke";
                const auto index = static_cast<std::size_t>(rank);
                CHECK(said[index] == (rank == failing
                                          ? own
                                          : "sum_by_stealing: rank " + std::to_string(failing) +
                                                " has ended the call: " + own));
                CHECK(after[index].empty());
            }
        }
    }
}

TEST_CASE("stealing: ranks that are asked for other rows are told") {
    std::vector<std::string> said(2);
    support::run_local_ranks(2, [&](const Group& group) {
        said[static_cast<std::size_t>(group->rank())] = support::message_of([&] {
            static_cast<void>(
                eddy::sum_by_stealing(Ranks{{}, group}, 100 + group->rank(), sum_of<double>));
        });
    });
    CHECK(said[0] ==
          "sum_by_stealing: rank 1 has been given other options than rank 0; give all ranks the "
          "same");
    CHECK(said[1] == said[0]);
    support::run_local_ranks(1, [&](const Group& group) {
        said[0] = support::message_of([&] {
            static_cast<void>(eddy::sum_by_stealing(Ranks{{}, group}, 100, sum_of<double>, 32));
        });
    });
    CHECK(said[0] ==
          "sum_by_stealing: 100 rows, 32 at a time; give 0 or more, and 64 or more at a time");
}
