// The group loops on a warp: the text that packs of the CPU run, on 32 members that meet at every
// decision. Each lane has the bits of Serial, whatever the number of lanes, checkpoints and logged
// rounds, and whoever goes first.

#include "solve/warp_backend.hpp"

#include "solve/oracle_cases.hpp"

namespace {

using oracle::adaptive_cases;
using oracle::constant_cases;
using support::Warps;
using Ways = std::vector<oracle::Way<Warps>>;

constexpr std::ptrdiff_t num_lanes = 101;
/// Memory for the log of so many rounds: a quarter of the budget, a double for each member.
constexpr std::size_t budget_of(std::size_t rounds) { return 1 + rounds * 4 * 32 * sizeof(double); }
const Ways three_ways{{"all rounds kept", {}, 4096},
                      {"three checkpoints, a short log", {2}, 3, budget_of(13)},
                      {"eight checkpoints, no log", {3}, 8, budget_of(0)}};
const std::vector<oracle::Case> jumps{adaptive_cases.at(3)};

/// More parameters than lanes hand out by themselves, which the loss reads as well.
struct Crowded {
    static constexpr int state_size = 1, parameter_size = 65;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[0] * eddy::sum(p));
    }
};
struct CrowdedLoss {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        return (y[0] - data[0]) * (1 + eddy::dot(p, p));
    }
};

}  // namespace

TEST_CASE("warps: solves have the bits of Serial") {
    CHECK(oracle::compare_solves(Ways{{"", {}}}, num_lanes) == oracle::adaptive_endings);
}

TEST_CASE("warps: gradients have the bits of Serial, lanes that fail among them") {
    const auto endings =
        oracle::compare_gradients<eddy::Tsit5, double>(adaptive_cases, three_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("warps: so have those of shared parameters, with times") {
    const auto endings = oracle::compare_shared_gradients(adaptive_cases, three_ways, num_lanes);
    CHECK(endings == oracle::adaptive_endings);
}

TEST_CASE("warps: so have those by steps of constant size, with times") {
    const auto endings = oracle::compare_gradients<eddy::Tsit5, float>(
        constant_cases, three_ways, num_lanes, eddy::ConstantController{},
        eddy::differentiate_times);
    CHECK(endings == oracle::constant_endings);
}

TEST_CASE("warps: whatever the number of lanes, and whatever is kept") {
    for (const std::ptrdiff_t count : {1, 31, 32, 33, 257}) {
        INFO(count << " lanes");
        static_cast<void>(oracle::compare_gradients<eddy::Tsit5, double>(jumps, three_ways, count));
    }
    for (const std::int64_t checkpoints : {1, 2, 3, 8, 200}) {
        for (const std::size_t rounds : {0u, 13u, 4096u}) {
            INFO(checkpoints << " checkpoints, " << rounds << " logged rounds");
            const Warps warps{static_cast<std::uint64_t>(checkpoints) + rounds};
            const Ways way{{"", warps, checkpoints, budget_of(rounds)}};
            static_cast<void>(
                oracle::compare_gradients<eddy::Tsit5, double>(jumps, way, num_lanes));
        }
    }
}

TEST_CASE("warps: lanes that follow each other in a place keep their bits") {
    for (const std::int64_t checkpoints : {40, 90, 1000}) {
        const Ways way{{"", {}, checkpoints}};
        static_cast<void>(oracle::compare_gradients<eddy::Tsit5, double>(jumps, way, 600));
    }
}

// What makes it a test of members is the thread sanitizer: before, all of them added to the sums of the
// group at once.
TEST_CASE("warps: members bring what a loss asks of many shared parameters one by one") {
    const support::Array y0(70, 1, 0.5), data(1, 1, 0.25);
    std::vector<double> p;
    for (int i = 0; i < 65; ++i) p.push_back(0.01 + 0.001 * i);
    const std::vector<support::Array> of_points(3, data);
    const auto differentiate = [&](const auto& backend) {
        return eddy::value_and_gradient(
            Crowded{}, eddy::Tsit5{}, CrowdedLoss{}, of_points, y0, eddy::shared(p),
            {.t1 = 1, .save_at = {0, 0.4, 1}, .memory_budget = budget_of(64), .checkpoints = 8},
            backend);
    };

    const auto serial = differentiate(eddy::Serial{});
    const auto on_warps = differentiate(Warps{});

    for (int i = 0; i < 65; ++i) {  // sums over 70 lanes and 3 save points in another order
        CAPTURE(i);
        CHECK(on_warps.gradient.p(0, i) == Approx(serial.gradient.p(0, i)).epsilon(1e-13));
    }
}
