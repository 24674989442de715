// Ranks that take lanes of each other's calls: solutions, gradients and what is said of trajectories that others have
// solved are those of one machine, bit for bit, also where a trajectory fails, and where some are solved again here.
// Threads stand for ranks. All kinds of calls: tests/mpi/ranks.cpp.

#include <atomic>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/ranks/stealing.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/ranks/local_ranks.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <memory>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::Forced;
using support::same_array;
using support::same_bits;
using Group = std::shared_ptr<eddy::detail::RankGroup>;

struct StealingRanks {
    struct backend_tag {};
    eddy::Cpu inner;
    Group group;
    bool stealing = true;

    [[nodiscard]] eddy::detail::RankLink ranks() const { return eddy::detail::RankLink(group); }
    [[nodiscard]] auto computing() const {
        return eddy::detail::Stealing<eddy::Cpu>{inner, stealing};
    }
};

/// The first component follows the second so fast that some lanes have steps as long as stability allows: these are solved again.
struct Following {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] * (y[1] - y[0]), -p[1] * y[1] + 0.1 * t);
    }
};
struct Log {  // is no number where the state is below its data
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        using std::log;
        return log(y[0] - data[0]);
    }
};

constexpr std::ptrdiff_t lanes = 4'600;  // so many that only sums of blocks are kept
Array starts() {
    Array y0(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.4 + 0.1 * static_cast<double>(lane % 17);
        y0(lane, 1) = 1.5 - 0.003 * static_cast<double>(lane % 131);
    }
    return y0;
}
/// Rank 0 has all but a few.
std::ptrdiff_t first_row(int rank, int ranks) { return rank == 0 ? 0 : lanes - 3 * (ranks - rank); }
Array rows_of(const Array& all, int rank, int ranks) {
    const std::ptrdiff_t first = first_row(rank, ranks), end = first_row(rank + 1, ranks);
    return Array(eddy::EnsembleView<const double>{all.data() + first, end - first, all.cols(), 1,
                                                  all.rows()});
}
const std::vector<double> theta{1.1, 0.7};
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-7};

// Lanes that are solved again are added apart on each rank (docs/guide/many_machines.md): shared gradients are then those of 4,600
// addends in another order, 4,600 epsilon = 1e-12 apart, and ten times that where signs differ.
bool close(const Array& a, const Array& b) {
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i)
        if (!(std::fabs(a(0, i) - b(0, i)) <= 1e-11 * std::fabs(b(0, i)))) return false;
    return true;
}

}  // namespace

TEST_CASE(
    "stealing: a gradient of trajectories that other ranks have solved is that of one machine") {
    const Array all = starts();
    Array data(lanes, 2, -10.);
    for (std::ptrdiff_t lane = 5; lane < lanes; lane += 97) data(lane, 0) = 10;  // no loss there
    for (const bool again : {false, true}) {
        const auto call = [&](const Array& y0, const Array& off, const auto& backend) {
            return eddy::value_and_gradient(
                Following{}, eddy::Bosh3{}, Log{}, off, y0,
                eddy::shared(std::vector<double>{again ? 35 : 1.1, 0.7}), options, backend);
        };
        const auto wanted = call(all, data, eddy::Cpu{1});
        std::ptrdiff_t num_redone = 0;
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            num_redone += wanted.report.redone(lane);
        REQUIRE(wanted.loss.num_successful < lanes);
        REQUIRE((num_redone > 0) == again);
        REQUIRE(num_redone < wanted.loss.num_successful);
        for (const int ranks : {1, 2, 3, 4}) {
            std::atomic<int> num_wrong{0};
            std::vector<Array> of_p(static_cast<std::size_t>(ranks));
            eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                const int rank = group->rank();
                const Array mine = rows_of(all, rank, ranks);
                const std::ptrdiff_t first = first_row(rank, ranks);
                const auto got =
                    call(mine, rows_of(data, rank, ranks), StealingRanks{{1 + rank % 2}, group});
                of_p[static_cast<std::size_t>(rank)] = got.gradient.p;
                int wrong =
                    !same_bits(got.loss.total_of_successful, wanted.loss.total_of_successful);
                wrong += again ? !close(got.gradient.p, wanted.gradient.p)
                               : !same_array(got.gradient.p, wanted.gradient.p);
                for (std::ptrdiff_t lane = 0; lane < mine.rows(); ++lane) {
                    for (std::ptrdiff_t i = 0; i < 2; ++i)
                        wrong += !same_bits(got.gradient.y0(lane, i),
                                            wanted.gradient.y0(first + lane, i));
                    wrong += got.report.redone(lane) != wanted.report.redone(first + lane);
                    wrong += got.report.result(lane) != wanted.report.result(first + lane);
                    wrong += got.report.stats(lane).accepted !=
                             wanted.report.stats(first + lane).accepted;
                    wrong += got.report.failure(lane).y != wanted.report.failure(first + lane).y;
                }
                num_wrong += wrong;
            });
            CAPTURE(again, ranks);
            CHECK(num_wrong == 0);
            for (const Array& p : of_p) CHECK(same_array(p, of_p[0]));
        }
    }
}

TEST_CASE("stealing: tangents are those of one machine, whoever follows them") {
    const Array all = starts(), to(1, 2, 0.5);
    const auto call = [&](const Array& y0, const auto& backend) {
        return eddy::pushforward(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), y0,
                                 eddy::shared(to), options, backend);
    };
    const auto wanted = call(all, eddy::Cpu{1});
    std::atomic<int> num_wrong{0};
    eddy::detail::run_local_ranks(3, [&](const Group& group) {
        const Array mine = rows_of(all, group->rank(), 3);
        const std::ptrdiff_t first = first_row(group->rank(), 3);
        const auto got = call(mine, StealingRanks{{1}, group});
        for (std::ptrdiff_t lane = 0; lane < mine.rows(); ++lane)
            num_wrong += !same_bits(got.y()(lane, 1), wanted.y()(first + lane, 1)) +
                         !same_bits(got.tangent()(lane, 1), wanted.tangent()(first + lane, 1));
    });
    CHECK(num_wrong == 0);
}

TEST_CASE("stealing: what ranks must have alike, and what is refused") {
    const Array y0(5, 2, 1.);
    const auto said = [&](const auto& call) {
        std::vector<std::string> words(2);
        eddy::detail::run_local_ranks(2, [&](const Group& group) {
            words[static_cast<std::size_t>(group->rank())] =
                support::message_of([&] { call(group); });
        });
        return words;
    };
    const auto options_differ = said([&](const Group& group) {
        static_cast<void>(eddy::solve(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), options,
                                      StealingRanks{{1}, group, group->rank() == 0}));
    });
    const auto directions_differ = said([&](const Group& group) {
        static_cast<void>(eddy::pushforward(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), y0,
                                            eddy::shared(Array(1, 2, group->rank())), options,
                                            StealingRanks{{1}, group}));
    });
    const auto said_with = [&](const auto& change) {
        auto changed = options;
        change(changed);
        return said([&](const Group& group) {
            static_cast<void>(eddy::solve(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), changed,
                                          StealingRanks{{1}, group}));
        });
    };
    const auto steps = said_with([](eddy::SolveOptions& of) { of.save_steps = true; });
    const auto times = said_with([](eddy::SolveOptions& of) {
        of.t1 = eddy::each(std::vector<double>{1, 2, 3, 4, 5});
    });
    const auto impulses =
        said_with([](eddy::SolveOptions& of) { of.impulses = {.times = {of.t1}, .amounts = 1}; });

    for (int rank = 0; rank < 2; ++rank) {
        const auto index = static_cast<std::size_t>(rank);
        CHECK(options_differ[index].find("rank 1 has been given other options than rank 0") !=
              std::string::npos);
        CHECK(directions_differ[index].find("rank 1 has been given other") != std::string::npos);
        CHECK(steps[index] ==
              "solve: save_steps with ranks that take trajectories from each other, whose "
              "steps do not come back; leave save_steps or stealing out");
        CHECK(
            times[index] ==
            "solve: times by each(array) with ranks that take trajectories from each other, whose "
            "times do not go along; leave stealing out, or give times of all");
        CHECK(impulses[index] ==
              "solve: impulses with ranks that take trajectories from each other, whose "
              "derivatives do not come back; leave one of them out");
    }
}
