// Random numbers in the steps of loops, which are drawn again where a step is computed again.

#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/core/random/counter_rng.hpp>
#include <eddy/core/random/philox.hpp>
#include <random>
#include <set>
#include <utility>

#include "support/catch.hpp"

namespace {

static_assert(std::uniform_random_bit_generator<eddy::CounterRng>);

struct Dropout {  // x -> 1.1 x where it is kept, else 0.9 x
    static double factor(std::int64_t step) {
        auto rng = eddy::counter_rng(42, step);
        return std::bernoulli_distribution(0.5)(rng) ? 1.1 : 0.9;
    }
    double advance(double x, std::int64_t step) const { return factor(step) * x; }
    double pullback(double, std::int64_t step, double c) const { return factor(step) * c; }
};

template <class Engine>
struct Walk {  // the engine is a part of the state, and every step draws from it
    using State = std::pair<double, Engine>;
    State advance(State x, std::int64_t) const {
        x.first *= 1 + 1e-3 * static_cast<double>(x.second() % 1000);
        return x;
    }
    State pullback(State x, std::int64_t, State c) const {
        c.first *= 1 + 1e-3 * static_cast<double>(x.second() % 1000);
        return c;
    }
};
template <class Engine>
bool same_in_few_checkpoints(const Engine& engine, bool is_checked) {
    using State = typename Walk<Engine>::State;
    eddy::CheckpointedLoop<State, Walk<Engine>> few(
        {}, {.checkpoints = 3, .length = 50, .determinism_check = is_checked});
    eddy::CheckpointedLoop<State, Walk<Engine>> all({}, {.checkpoints = 51, .length = 50});
    const double last = few.run({1.0, engine}).first;
    return last == all.run({1.0, engine}).first && last > 1 &&
           few.reverse({1.0, engine}).first == all.reverse({1.0, engine}).first &&
           few.counters().recomputed > 0;
}

}  // namespace

TEST_CASE("row 93: counter_rng draws the same in a step, whenever the engine is made") {
    auto first = eddy::counter_rng(7, 3), again = eddy::counter_rng(7, 3);
    std::set<std::uint32_t> words;
    for (int k = 0; k < 1000; ++k) {
        const std::uint32_t word = first();
        CHECK(word == again());
        words.insert(word);
    }
    CHECK(words.size() > 995);
    CHECK(eddy::counter_rng(7, 3)() != eddy::counter_rng(7, 4)());
    CHECK(eddy::counter_rng(7, 3)() != eddy::counter_rng(8, 3)());
    const auto block =
        eddy::philox(eddy::PhiloxWords<std::uint32_t>{{0, 0, 3, 0}}, eddy::PhiloxKey(7));
    CHECK(eddy::counter_rng(7, 3)() == block.w[0]);
    auto rng = eddy::counter_rng(1, 0);
    double sum = 0;
    for (int k = 0; k < 10000; ++k) sum += rng.uniform();
    CHECK(sum / 10000 == Approx(0.5).margin(0.015));  // five standard deviations
}

TEST_CASE("row 93: dropout in a checkpointed step is that of the forward pass") {
    eddy::CheckpointedLoop<double, Dropout> loop(
        {}, {.checkpoints = 3, .length = 100, .determinism_check = true});
    const double last = loop.run(1.0);
    CHECK(loop.reverse(1.0) == Approx(last).epsilon(1e-13));  // f is linear: its slope is its value
    CHECK(loop.counters().recomputed > 0);
}

TEST_CASE("row 93: an engine of the user's own is a part of the state") {
    CHECK(same_in_few_checkpoints(std::mt19937(5), false));
    CHECK(same_in_few_checkpoints(eddy::counter_rng(5, 0), true));
}
