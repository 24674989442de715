// Ranks agree on what they were asked, end together, and add up in the shape of one machine. Threads stand for them.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/rank_model.hpp"
#include "support/rank_threads.hpp"

namespace {

using eddy::detail::LaneBlocks;
using eddy::detail::LeafRun;
using eddy::detail::LeafShape;
using eddy::detail::RankGroup;
using eddy::detail::RankReport;
using Group = std::shared_ptr<RankGroup>;

/// A run of lanes as a rank makes it, from the numbers of its lanes.
template <class Real>
LeafRun run_of(const std::vector<Real>& numbers, std::ptrdiff_t first, std::ptrdiff_t count) {
    LeafRun run({64, 1, 0, std::is_same_v<Real, float>}, first);
    const LaneBlocks rows = LaneBlocks::from(first, count);
    for (std::ptrdiff_t row = 0; row < rows.count(); ++row) {
        const auto sum = static_cast<double>(eddy::detail::sum_of_block<Real>(
            rows.first(row), rows.end(row),
            [&](std::ptrdiff_t lane) { return numbers[static_cast<std::size_t>(first + lane)]; }));
        if (row < rows.num_alone)
            run.add_lane(&sum);
        else
            run.add_leaf(&sum, rows.end(row) - rows.first(row));
    }
    return run;
}

/// What a call of a rank came to.
std::string outcome_of(const Group& group, const std::function<void()>& work) {
    try {
        eddy::detail::RankLink(group).in_call("call", work);
        return "done";
    } catch (const eddy::InvalidArgument& error) {
        return std::string("bad: ") + error.what();
    } catch (const eddy::RankError& error) {
        return std::string("rank: ") + error.what();
    } catch (const std::exception& error) {
        return std::string("own: ") + error.what();
    } catch (...) {
        return "own";
    }
}

}  // namespace

TEMPLATE_TEST_CASE("ranks: runs of any division add up to the bits of one machine", "", float,
                   double) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const std::ptrdiff_t lanes : {0, 1, 63, 64, 65, 200, 1'000, 40'001}) {
        std::vector<TestType> numbers(static_cast<std::size_t>(lanes));
        for (TestType& number : numbers) number = static_cast<TestType>(uniform(random));
        const auto wanted = eddy::detail::sum_over_lanes<TestType>(
            lanes, [&](std::ptrdiff_t lane) { return numbers[static_cast<std::size_t>(lane)]; });
        const double log_of_leaves = std::log2(static_cast<double>(lanes / 64 + 2));
        for (int trial = 0; trial < 40; ++trial) {
            std::vector<std::ptrdiff_t> cuts{0, lanes};
            for (int k = 0; k < trial; ++k)
                cuts.push_back(static_cast<std::ptrdiff_t>(random() % (std::size_t(lanes) + 1)));
            std::sort(cuts.begin(), cuts.end());
            // Neighbours become one, in any order.
            std::vector<LeafRun> runs;
            for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
                runs.push_back(run_of(numbers, cuts[k], cuts[k + 1] - cuts[k]));
            while (runs.size() > 1) {
                const std::size_t k = random() % (runs.size() - 1);
                RankReport report;
                report.sums = {runs[k + 1]};
                runs[k].append(RankReport::read(report.write().data()).sums[0]);
                runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(k) + 1);
                REQUIRE(static_cast<double>(runs[k].num_rows()) <= 2 * log_of_leaves + 2 + 63);
            }
            const auto total = runs[0].total();
            REQUIRE(total.size() == 1);
            REQUIRE(std::bit_cast<std::uint64_t>(total[0]) ==
                    std::bit_cast<std::uint64_t>(static_cast<double>(wanted)));
        }
    }
}

TEST_CASE("ranks: each learns where its lanes begin, by two messages a rank and exchange at most") {
    for (const int count : {1, 2, 3, 4, 7, 16}) {
        std::atomic<std::int64_t> messages{0}, right{0};
        support::run_local_ranks(count, [&](const Group& group) {
            for (int call = 0; call < 3; ++call) {
                eddy::detail::RankLink(group).in_call("call", [&] {
                    const auto verdict = group->agree({}, 10 + group->rank());
                    const std::int64_t r = group->rank(), n = count;
                    right += verdict.first_lane == 10 * r + r * (r - 1) / 2 &&
                             verdict.num_lanes == 10 * n + n * (n - 1) / 2;
                });
            }
            messages += group->traffic().messages;
        });
        CHECK(right == 3 * count);
        CHECK(messages == 3 * 2 * 2 * (count - 1));
    }
}

TEST_CASE("ranks: the model on paper sends and keeps what ranks do") {
    for (const int count : {1, 2, 3, 4}) {
        for (const std::int64_t columns : {1, 7}) {
            std::vector<support::RankWork> work;
            for (int rank = 0; rank < count; ++rank)
                work.push_back({1000 * (1 + 3 * rank) - 17, 0});
            std::vector<std::int64_t> first(work.size());
            for (std::size_t rank = 1; rank < work.size(); ++rank)
                first[rank] = first[rank - 1] + work[rank - 1].num_lanes;
            std::atomic<std::int64_t> messages{0}, bytes{0}, rows{0};
            support::run_local_ranks(count, [&](const Group& group) {
                const auto rank = static_cast<std::size_t>(group->rank());
                eddy::detail::RankLink(group).in_call("call", [&] {
                    static_cast<void>(group->agree({}, work[rank].num_lanes));
                    const auto totals = group->add_up({support::RankModel::run_of(
                        first[rank], work[rank].num_lanes, 64, columns)});
                    static_cast<void>(totals);
                });
                messages += group->traffic().messages;
                bytes += group->traffic().bytes;
                std::int64_t most = rows;
                const std::int64_t own = group->traffic().most_rows;
                while (most < own && !rows.compare_exchange_weak(most, own)) continue;
            });
            const support::RankModel model(work, 64, columns);
            CHECK(model.traffic().messages == messages);
            CHECK(model.traffic().bytes == bytes);
            CHECK(model.traffic().most_rows == rows);
        }
    }
    // 10^8 lanes on 10^4 ranks: a logarithm, of messages and of sums.
    const support::RankModel large(std::vector<support::RankWork>(10'000, {10'000, 0.01}), 64, 63);
    CHECK(large.most_messages() <= 2 * (1 + 14));
    CHECK(large.traffic().most_rows <= 2 * 21 + 2 + 63);
}

TEST_CASE("ranks: rows by count and by cost") {
    using eddy::RankRows;
    using eddy::detail::rows_by_cost;
    using eddy::detail::rows_by_count;
    for (const std::ptrdiff_t num_rows : {0, 1, 5, 1000, 4096, 100'003}) {
        for (const int ranks : {1, 2, 3, 7}) {
            std::ptrdiff_t first = 0, most = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const RankRows rows = rows_by_count(num_rows, rank, ranks);
                CHECK(rows.first == first);
                if (num_rows >= 512 * ranks) CHECK(rows.first % 64 == 0);
                first += rows.count;
                most = std::max(most, rows.count);
            }
            CHECK(first == num_rows);
            CHECK(most <= num_rows / ranks + (num_rows >= 512 * ranks ? 128 : 1));
        }
    }
    CHECK(rows_by_count(1000, 0, 2, 384) == RankRows{0, 384});
    CHECK(rows_by_count(1000, 1, 2, 384) == RankRows{384, 616});
    // Costs 1 : 30, the dear tenth at the end.
    std::vector<std::int64_t> costs(1000, 1);
    std::fill(costs.end() - 100, costs.end(), 30);
    const auto most_of = [&](const auto& rows_of) {
        std::int64_t most = 0;
        for (int rank = 0; rank < 4; ++rank) {
            const RankRows rows = rows_of(rank);
            std::int64_t cost = 0;
            for (std::ptrdiff_t row = rows.first; row < rows.first + rows.count; ++row)
                cost += costs[static_cast<std::size_t>(row)];
            most = std::max(most, cost);
        }
        return most;
    };
    CHECK(most_of([](int rank) { return rows_by_count(1000, rank, 4); }) == 3150);
    const std::int64_t balanced =
        most_of([&](int rank) { return rows_by_cost(costs, 1, 1000, rank, 4); });
    CHECK(balanced <= 3900 / 4 + 30);
    CHECK(rows_by_cost(std::vector<std::int64_t>(10), 1, 10, 1, 2) == RankRows{5, 5});
}

TEST_CASE("ranks: whichever fails, at whichever point, all end with its sentence and its number") {
    for (const int count : {1, 2, 3, 4}) {
        for (int failing = 0; failing < count; ++failing) {
            for (int point = 0; point < 4; ++point) {
                std::vector<std::array<std::string, 2>> said(static_cast<std::size_t>(count));
                std::atomic<int> stopped{0};
                support::run_local_ranks(count, [&](const Group& group) {
                    const bool fails = group->rank() == failing;
                    auto& [first, second] = said[static_cast<std::size_t>(group->rank())];
                    first = outcome_of(group, [&] {
                        if (fails && point == 0) throw eddy::InvalidArgument("call: no good");
                        if (fails && point == 1) throw std::bad_alloc();
                        static_cast<void>(group->agree({}, 5));
                        if (fails && point == 2) throw std::runtime_error("broke");
                        if (fails && point == 3) throw 7;
                        // The others are at work, and hear of it.
                        while (point >= 2 && group->goes_on()) std::this_thread::yield();
                        ++stopped;
                    });
                    second = outcome_of(group, [&] { static_cast<void>(group->agree({}, 5)); });
                });
                CHECK(stopped == (point >= 2 ? count - 1 : 0));
                const std::string who = "rank " + std::to_string(failing) + " has ended the call: ";
                const std::string told[] = {"bad: call: " + who + "call: no good",
                                            "rank: call: " + who + "std::bad_alloc",
                                            "rank: call: " + who + "broke",
                                            "rank: call: " + who + "an exception without words"};
                for (int rank = 0; rank < count; ++rank) {
                    const auto& [first, second] = said[static_cast<std::size_t>(rank)];
                    if (rank != failing) CHECK(first == told[point]);
                    CHECK(second == "done");  // the next call is a good one
                }
            }
        }
    }
}

TEST_CASE("ranks: those that were asked something else are told before any work") {
    const char* const names[] = {"another version of eddy", "another call",
                                 "another equation, method or type of numbers", "other options",
                                 "other shared parameters"};
    for (int item = 0; item < eddy::detail::CallPrint::num_items; ++item) {
        std::vector<std::string> said(4);
        support::run_local_ranks(4, [&](const Group& group) {
            eddy::detail::CallPrint print{{1, 2, 3, 4, 5}};
            if (group->rank() == 2) print.items[item] = 9;
            said[static_cast<std::size_t>(group->rank())] = outcome_of(group, [&] {
                static_cast<void>(group->agree(print, 5));
                FAIL("no work");
            });
        });
        for (const std::string& text : said)
            CHECK(text == std::string("bad: call: rank 2 has been given ") + names[item] +
                              " than rank 0; give all ranks the same");
    }
}

TEST_CASE("ranks: a cancelled one stops all, whether it works or waits") {
    for (const bool waits : {false, true}) {
        std::atomic<int> stopped{0};
        support::run_local_ranks(4, [&](const Group& group) {
            std::stop_source cancel;
            eddy::detail::RankLink(group).in_call("call", [&] {
                static_cast<void>(group->agree({}, 5));
                group->attend(cancel.get_token(), {});
                if (group->rank() == 3) {
                    cancel.request_stop();
                    if (!waits) group->stop();
                    return;
                }
                while (group->goes_on()) std::this_thread::yield();
                ++stopped;
            });
        });
        CHECK(stopped == 3);
    }
}

TEST_CASE("ranks: one that does not come is named, and the others go on") {
    for (int missing = 0; missing < 4; ++missing) {
        std::vector<std::string> said(4), after(4);
        std::atomic<int> waiting{3};
        support::run_local_ranks(4, [&](const Group& group) {
            const auto rank = static_cast<std::size_t>(group->rank());
            group->set_time_out(0.2);
            const auto call = [&] {
                return outcome_of(group, [&] { static_cast<void>(group->agree({}, 5)); });
            };
            // It comes when all others have given it up.
            while (group->rank() == missing && waiting > 0) std::this_thread::yield();
            said[rank] = call();
            --waiting;
            after[rank] = call();
        });
        const std::string told = "rank: call: rank " + std::to_string(missing) +
                                 " has given no sign of life for 0.2 s; see what it does, or give "
                                 "a longer time_out";
        for (std::size_t rank = 0; rank < 4; ++rank) {
            CHECK(said[rank] == told);
            CHECK(after[rank] == told);
        }
    }
}

TEST_CASE("ranks: one that works longer than the time-out is not given up") {
    std::vector<std::string> said(3);
    support::run_local_ranks(3, [&](const Group& group) {
        group->set_time_out(0.1);
        said[static_cast<std::size_t>(group->rank())] = outcome_of(group, [&] {
            static_cast<void>(group->agree({}, 5));
            const auto start = std::chrono::steady_clock::now();
            while (group->rank() == 1 &&
                   std::chrono::steady_clock::now() - start < std::chrono::milliseconds(400)) {
                CHECK(group->goes_on());
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
    });
    for (const std::string& text : said) CHECK(text == "done");
}
