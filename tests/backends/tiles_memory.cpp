// What a gradient in tiles keeps for its way back: the bytes it reports are those it takes, within the budget,
// and results do not depend on them. Every allocation is counted, and of the arena, which is mapped, what
// was written.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <vector>

#include "fuzz/memory.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

struct Mapped {
    unsigned char* first;
    std::size_t size;
};
std::vector<Mapped>* mappings = nullptr;  // while somebody looks
constexpr unsigned char unwritten = 0xa5;

/// Bytes of the arenas that are not as they were mapped, in pieces of 64.
std::int64_t written_bytes() {
    unsigned char blank[64];
    std::memset(blank, unwritten, sizeof(blank));
    std::int64_t bytes = 0;
    for (const Mapped& arena : *mappings) {
        for (std::size_t at = 0; at + 64 <= arena.size; at += 64)
            bytes += std::memcmp(arena.first + at, blank, 64) != 0 ? 64 : 0;
    }
    return bytes;
}

}  // namespace

/// What an arena is made of; the C library's own calls do not come here.
extern "C" void* mmap(void* at, std::size_t size, int protection, int flags, int file,
                      off_t offset) noexcept {
    const long result = syscall(SYS_mmap, at, size, protection, flags, file, offset);
    auto* const memory = reinterpret_cast<unsigned char*>(result);
    if (result != -1 && mappings != nullptr) {
        std::memset(memory, unwritten, size);
        mappings->push_back({memory, size});
    }
    return memory;
}

/// An arena that has grown is another: what was written into the first is gone.
extern "C" int munmap(void* at, std::size_t size) noexcept {
    if (mappings != nullptr)
        std::erase_if(*mappings, [&](const Mapped& arena) { return arena.first == at; });
    return static_cast<int>(syscall(SYS_munmap, at, size));
}

namespace {

constexpr auto network = eddy::nn::mlp<3, 16, 2>(eddy::nn::tanh);

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

eddy::EnsembleArray<float> starts(std::ptrdiff_t lanes) {
    eddy::EnsembleArray<float> y0(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 1 - 0.013f * static_cast<float>(lane % 71);
        y0(lane, 1) = -0.4f + 0.051f * static_cast<float>(lane % 53);
    }
    return y0;
}

/// As long as they are held, no arena waits that a call before has mapped.
std::vector<eddy::detail::ArenaMemory> hold_idle_arenas() {
    std::vector<eddy::detail::ArenaMemory> held(16);
    for (eddy::detail::ArenaMemory& memory : held)
        static_cast<void>(memory.arena(std::size_t{1} << 30));
    return held;
}

struct Taken {
    std::int64_t measured, reported;
    eddy::GradientReport report;
};
/// By one gradient of a solver object that is new. Tables of the placement, which all loops of the process
/// share, are there from a call before.
Taken taken_by(std::ptrdiff_t lanes, std::size_t budget, double dt_max, bool is_joint = false) {
    const auto y0 = starts(lanes);
    const std::vector<float> p = eddy::nn::glorot_uniform<float>(network, 7);
    eddy::SolveOptions options{.t1 = 3, .rtol = 1e-4, .save_at = {0.31, 0.8, 3}};
    options.dt_max = dt_max;
    options.memory_budget = budget;
    options.stable_gradients = false;
    const auto held = hold_idle_arenas();
    std::vector<Mapped> arenas;
    arenas.reserve(64);
    const auto run = [&](auto&& make) -> Taken {
        auto first = make(), solver = make();
        first(y0, eddy::shared(p));
        const std::int64_t before = fuzz::held_bytes();
        fuzz::forget_peak();
        mappings = &arenas;
        auto& result = solver(y0, eddy::shared(p));
        const std::int64_t heap = fuzz::peak_bytes() - before;
        const std::int64_t arena = written_bytes();
        mappings = nullptr;
        return {heap + arena, result.report.bytes_kept, result.report};
    };
    if (is_joint)
        return run([&] {
            return eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options,
                                         eddy::JointController{}, eddy::Tiles{.threads = 1});
        });
    return run([&] {
        return eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options,
                                     eddy::Tiles{.threads = 1});
    });
}

/// Of batch and weights: results, outcomes, parts of the sum over lanes, times, and what a call is kept in.
std::int64_t beyond_the_way_back(std::ptrdiff_t lanes) {
    return 32'768 + 128 * lanes + 32 * 4 * network.parameter_size;
}

}  // namespace

TEST_CASE("tiles: bytes_kept is what a gradient takes, whatever the rounds and the budget") {
    for (const std::ptrdiff_t lanes : {1, 64, 301}) {
        for (const double dt_max : {0.5, 0.05}) {
            for (const std::size_t budget : {1U, 300'000U, 3'000'000U, 256U << 20}) {
                CAPTURE(lanes, dt_max, budget);
                // Room that is not written is mapped, and looked at: that of the default would be slow.
                if (budget > 3'000'000 && lanes != 64) continue;
                const Taken taken = taken_by(lanes, budget, dt_max);
                CAPTURE(taken.measured, taken.reported);

                CHECK(taken.report.success());
                CHECK(taken.measured <= taken.reported + beyond_the_way_back(lanes));
                // Of a tile with one lane not all of the room that it works in is written.
                if (lanes > 1) CHECK(taken.measured >= taken.reported - taken.reported / 16);
            }
        }
    }
}

TEST_CASE("tiles: a gradient takes no more than the budget beyond what it works in") {
    for (const std::ptrdiff_t lanes : {1, 301}) {
        const Taken least = taken_by(lanes, 1, 0.05);
        for (std::size_t budget = 1 << 14; budget <= 1 << 20; budget *= 4) {
            CAPTURE(lanes, budget);
            const Taken taken = taken_by(lanes, budget, 0.05);
            CHECK(taken.measured <= least.measured + static_cast<std::int64_t>(budget));
        }
    }
}

TEST_CASE("tiles: a call maps nothing where another has ended") {
    const auto y0 = starts(3);
    const std::vector<float> p = eddy::nn::glorot_uniform<float>(network, 7);
    const auto call = [&] {
        static_cast<void>(eddy::value_and_gradient(network, eddy::Tsit5{}, SquaredError{}, y0,
                                                   eddy::shared(p), {.t1 = 3},
                                                   eddy::Tiles{.threads = 1}));
    };
    call();
    std::vector<Mapped> mapped;
    mapped.reserve(64);
    mappings = &mapped;
    call();
    mappings = nullptr;
    CHECK(mapped.empty());
}

TEST_CASE("tiles: with a joint step size the first solve and its steps are counted as well") {
    const Taken taken = taken_by(301, 300'000, 0.05, true);
    CHECK(taken.measured <= taken.reported + beyond_the_way_back(301));
    CHECK(taken.measured >= taken.reported / 2);  // the two share room
}

namespace {

/// y = (√y₀ − p t / 2)²: no number any more once it has reached 0.
struct Draining {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return -p[0] * sqrt(y); }
};

}  // namespace

TEST_CASE("tiles: behind the end of the log attempts are made again, with the same bits") {
    // Lanes that end at different times, some of them badly, and jumps on the way.
    eddy::EnsembleArray<double> y0(83, 1);
    for (std::ptrdiff_t lane = 0; lane < 83; ++lane)
        y0(lane, 0) = 0.5 + 0.1 * static_cast<double>(lane);
    const eddy::EnsembleArray<double> p(1, 1, 1.);
    const auto differentiate = [&](std::size_t budget, std::int64_t checkpoints) {
        eddy::SolveOptions options{.t1 = 2, .rtol = 1e-8, .save_at = {0.3, 1.1, 2}};
        options.jump_times = {0.4, 1.7};
        options.memory_budget = budget;
        options.checkpoints = checkpoints;
        options.stable_gradients = false;
        return eddy::value_and_gradient(Draining{}, eddy::Tsit5{}, SquaredError{}, y0,
                                        eddy::shared(p), options, eddy::Tiles{.threads = 1});
    };
    const auto whole = differentiate(std::size_t{256} << 20, 0);
    CHECK(whole.report.evaluations_back == 0);
    CHECK(whole.report.result(0) == eddy::Result::non_finite);
    CHECK(whole.report.result(82) == eddy::Result::success);

    for (const std::size_t budget : {std::size_t{1}, std::size_t{1} << 13, std::size_t{1} << 15}) {
        for (const std::int64_t checkpoints : {0, 1, 7}) {
            CAPTURE(budget, checkpoints);
            const auto bounded = differentiate(budget, checkpoints);
            CHECK(bounded.report.evaluations_back > 0);
            CHECK(support::same_bits(bounded.loss.total_of_successful,
                                     whole.loss.total_of_successful));
            CHECK(support::same_array(bounded.gradient.p, whole.gradient.p));
            CHECK(support::same_array(bounded.gradient.y0, whole.gradient.y0));
        }
    }
}
