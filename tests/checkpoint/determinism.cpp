#include <eddy/ad/dual.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::CheckpointedLoop;
using eddy::LoopOptions;
using eddy::StateHash;
using std::int64_t;
using support::mentions;
using support::message_of;

namespace {

// From its `changes_at`-th call on, the body adds what nobody sees in the state.
struct Moody {
    int64_t changes_at;
    mutable int64_t calls = 0;

    double advance(double x, int64_t) const {
        return 0.5 * x + (calls++ < changes_at ? 1.0 : 1.0 + 1e-15);
    }
    double pullback(double, int64_t, double cotangent) { return 0.5 * cotangent; }
};

struct Opaque {
    double value = 0;
};
struct OpaqueBody {
    Opaque advance(const Opaque& x, int64_t) const { return x; }
    Opaque pullback(const Opaque&, int64_t, const Opaque& cotangent) { return cotangent; }
};

const auto below_20 = [](const auto&, int64_t step) { return step < 20; };

// A store that flips one bit of what it was given for one step.
struct FlippingStore : support::StrictStore<double> {
    int64_t flipped_step = 0;

    void write(int64_t slot, int64_t step, double x) {
        StrictStore::write(slot, step, step == flipped_step ? x + 1e-15 * x : x);
    }
};

}  // namespace

namespace {

/// A state of the user's, of which one number counts.
struct Annotated {
    double value;
    const char* note;
};

}  // namespace

namespace eddy {  // as users may write, though all of eddy stands in an inline namespace

template <>
struct StateHash<Annotated> {
    std::uint64_t operator()(const Annotated& state, std::uint64_t seed) const {
        return StateHash<double>{}(state.value, seed);
    }
};

}  // namespace eddy

TEST_CASE("determinism: a hash of the user's own, specialised in namespace eddy, is found") {
    static_assert(eddy::HashableState<Annotated>);
    CHECK(eddy::StateHash<Annotated>{}({2., "one"}, 5) ==
          eddy::StateHash<Annotated>{}({2., "other"}, 5));
    CHECK(eddy::StateHash<std::pair<Annotated, int>>{}({{2., "one"}, 1}, 5) !=
          eddy::StateHash<std::pair<Annotated, int>>{}({{3., "one"}, 1}, 5));
}

TEST_CASE(
    "determinism_check: a body with hidden state is reported with the first step that differed") {
    // 20 steps forward; with two checkpoints the first step computed again is the one after the
    // upper checkpoint.
    CheckpointedLoop<double, Moody, support::StrictStore<double>> loop(
        Moody{20}, {.checkpoints = 2, .length = 20, .determinism_check = true});
    loop.run(0.0);
    const int64_t upper = eddy::schedule::next_offline_checkpoint(0, 20, 1);

    CHECK_THROWS_AS(loop.reverse(1.0), eddy::NonDeterministicBody);
    CHECK(loop.store().held() == 0);

    loop.body().calls = 0;
    loop.run(0.0);
    CHECK_THROWS_WITH(
        loop.reverse(1.0),
        "CheckpointedLoop: step " + std::to_string(upper) +
            " gave another state when it was computed again; advance must depend only on the state "
            "and the step (no hidden state, no unseeded random numbers)");
}

TEST_CASE("determinism_check: the step named is where it differed, not where the slot is") {
    CheckpointedLoop<double, Moody> loop(Moody{23}, {.checkpoints = 1, .determinism_check = true});
    loop.run(0.0, below_20);
    // From x_0 the steps 0, 1, 2 come out as before; the 24th call is step 3.
    CHECK(mentions(message_of([&] { (void)loop.reverse(1.0); }), "step 3 gave another state"));
}

TEST_CASE("determinism_check: is silent on a deterministic body and costs no evaluation") {
    CheckpointedLoop<double, Moody> loop(Moody{1000},
                                         {.checkpoints = 3, .determinism_check = true});
    loop.run(0.0, below_20);
    (void)loop.reverse(1.0);
    const auto checked = loop.counters();

    CheckpointedLoop<double, Moody> unchecked(Moody{1000}, {.checkpoints = 3});
    unchecked.run(0.0, below_20);
    (void)unchecked.reverse(1.0);

    CHECK(checked == unchecked.counters());
}

TEST_CASE(
    "determinism_check: a slot that changed between write and read is a StorageError with slot and "
    "step") {
    FlippingStore store;
    store.flipped_step = 10;
    CheckpointedLoop<double, Moody, FlippingStore> loop(
        Moody{1000}, {.checkpoints = 20, .max_steps = 20, .determinism_check = true}, store);
    loop.run(1.0, below_20);

    const std::string message = message_of([&] { (void)loop.reverse(1.0); });
    CHECK(mentions(message, "slot 10 "));
    CHECK(mentions(message, "step 10;"));
}

TEST_CASE("determinism_check: a state without a hash is refused with the remedy") {
    using Loop = CheckpointedLoop<Opaque, OpaqueBody>;
    const std::string message =
        message_of([] { Loop(OpaqueBody{}, {.checkpoints = 3, .determinism_check = true}); });
    CHECK(mentions(message, "specialise StateHash"));
    CHECK_NOTHROW(Loop(OpaqueBody{}, {.checkpoints = 3}));
}

TEST_CASE("state_hash: one changed bit changes the hash, through ranges, pairs and tuples") {
    const auto hash = [](const auto& state) {
        return StateHash<std::remove_cvref_t<decltype(state)>>{}(state, 0);
    };
    CHECK(hash(0.0) != hash(-0.0));
    CHECK(hash(1.0f) != hash(1.0f + 1e-7f));
    CHECK(hash(std::vector{1.0, 2.0}) != hash(std::vector{2.0, 1.0}));
    CHECK(hash(std::array{1, 2}) == hash(std::array{1, 2}));
    CHECK(hash(std::pair{1.0, std::vector{2}}) != hash(std::pair{1.0, std::vector{3}}));
    CHECK(hash(std::tuple{1, 2.0, std::array{3}}) != hash(std::tuple{1, 2.0, std::array{4}}));
    CHECK(hash(std::vector<std::vector<int>>{{1}, {}}) !=
          hash(std::vector<std::vector<int>>{{}, {1}}));
}

TEST_CASE("row 83: a dual number has a hash, of its value and its tangent") {
    using Dual = eddy::Dual<double>;
    const auto hash = [](const Dual& x) { return StateHash<Dual>{}(x, 0); };

    CHECK(hash({1.0, 2.0}) == hash({1.0, 2.0}));
    CHECK(hash({1.0, 2.0}) != hash({2.0, 1.0}));
    CHECK(hash({1.0, 2.0}) != hash({1.0, 2.0 + 1e-15}));
}

TEST_CASE("state_hash: every NaN is the same, whatever its sign and payload") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const float small_nan = std::numeric_limits<float>::quiet_NaN();

    CHECK(StateHash<double>{}(nan, 0) == StateHash<double>{}(-nan, 0));
    CHECK(StateHash<double>{}(nan, 0) == StateHash<double>{}(std::nan("7"), 0));
    CHECK(StateHash<double>{}(nan, 0) != StateHash<double>{}(1.0, 0));
    CHECK(StateHash<float>{}(small_nan, 0) == StateHash<float>{}(-small_nan, 0));
}

namespace {

/// x -> x + 1, whose linearization finds another value than its call.
struct Fickle {
    double difference;
    struct Linearization {
        double value;
        [[nodiscard]] double pullback(double cotangent) const { return cotangent; }
    };
    double operator()(double x) const { return x + 1; }
    [[nodiscard]] Linearization linearize(double x) const { return {x + 1 + difference}; }
};

/// The same for scans, as a function of (carry, x).
struct FickleCell {
    using Pair = std::pair<double, double>;
    double difference;
    struct Linearization {
        Pair value;
        [[nodiscard]] Pair pullback(const Pair& cotangent) const { return cotangent; }
    };
    Pair operator()(const Pair& in) const { return {in.first + in.second, in.first}; }
    [[nodiscard]] Linearization linearize(const Pair& in) const {
        return {{in.first + in.second + difference, in.first}};
    }
};

}  // namespace

TEST_CASE("determinism_check: the last recomputation, of the linearization, is compared as well") {
    const auto below_nine = [](double x) { return x < 9; };
    const auto loop = [&](double difference) {
        return eddy::while_loop(below_nine, Fickle{difference},
                                {.checkpoints = 3, .determinism_check = true});
    };
    CHECK(loop(0).linearize(0.0).pullback(1.0) == 1);
    auto fickle = loop(0.5).linearize(0.0);
    CHECK(mentions(message_of([&] { (void)fickle.pullback(1.0); }),
                   "step 8 gave another state when it was computed again"));

    const std::pair input(0.0, std::vector<double>(6, 1.0));
    const auto scan = [&](double difference, const eddy::LoopOptions& options) {
        return eddy::scan(FickleCell{difference}, options).linearize(input);
    };
    const eddy::LoopOptions carries{.checkpoints = 3, .determinism_check = true};
    auto steady = scan(0, carries);
    CHECK(steady.pullback(steady.value).first == 6);
    auto fickle_scan = scan(0.5, carries);
    CHECK_THROWS_AS(fickle_scan.pullback(fickle_scan.value), eddy::NonDeterministicBody);

    // Where residuals are kept, steps of the segments before the last one are evaluated again.
    const eddy::LoopOptions residuals{
        .checkpoints = 3, .determinism_check = true, .keep = eddy::Keep::residuals};
    auto steady_segments = scan(0, residuals);
    CHECK(steady_segments.pullback(steady.value).first == 6);
    auto fickle_segments = scan(0.5, residuals);
    CHECK_THROWS_AS(fickle_segments.pullback(steady.value), eddy::NonDeterministicBody);
}

namespace {

/// A mean and a list, of which the list draws from a generator that nobody restores.
struct Drawing {
    using State = std::pair<double, std::vector<double>>;
    double drawn = 0.25;  // from the ninth call on another number
    mutable int calls = 0;

    [[nodiscard]] State advance(const State& x, int64_t) const {
        const double noise = eddy::note_operation("noise", calls++ < 8 ? 0.25 : drawn);
        State next{0.5 * x.first, x.second};
        next.second[1] = eddy::note_operation("sum", next.second[1] + noise);
        return next;
    }
    [[nodiscard]] State pullback(const State&, int64_t, const State& cotangent) const {
        return cotangent;
    }
};

std::string message_of_drawing(double drawn, eddy::Check check) {
    CheckpointedLoop<Drawing::State, Drawing> loop(
        {drawn}, {.checkpoints = 1, .length = 8, .determinism_check = check});
    loop.run({1.0, {0.0, 0.0}});
    return message_of([&] { (void)loop.reverse({1.0, {1.0, 1.0}}); });
}

}  // namespace

TEST_CASE("row 99: Check::explain tells the component, both values, and the operations of both") {
    // Computed again, step 0 has the numbers of the first evaluation but for the noise.
    CHECK(message_of_drawing(0.75, eddy::Check::explain) ==
          "CheckpointedLoop: step 0 gave another state when it was computed again: component "
          "<1>[1] was 0.25 and is now 0.75; advance must depend only on the state and the step (no "
          "hidden state, no unseeded random numbers)\n"
          "  first        | again\n"
          "> noise = 0.25 | noise = 0.75\n"
          "  sum = 0.25   | sum = 0.75");
    CHECK(message_of_drawing(0.75, true) ==
          "CheckpointedLoop: step 0 gave another state when it was computed again; advance must "
          "depend only on the state and the step (no hidden state, no unseeded random numbers)");
    CHECK(message_of_drawing(0.25, eddy::Check::explain).empty());
}

TEST_CASE("row 99: Check::explain sees the linearization of a step, and steps of a scan") {
    auto fickle = eddy::while_loop([](double x) { return x < 9; }, Fickle{0.5},
                                   {.checkpoints = 3, .determinism_check = eddy::Check::explain})
                      .linearize(0.0);
    CHECK(mentions(message_of([&] { (void)fickle.pullback(1.0); }),
                   "step 8 gave another state when it was computed again: the state was 9 and is "
                   "now 9.5;"));
    const std::pair input(0.0, std::vector<double>(6, 1.0));
    const eddy::LoopOptions residuals{
        .checkpoints = 3, .determinism_check = eddy::Check::explain, .keep = eddy::Keep::residuals};
    auto scan = eddy::scan(FickleCell{0.5}, residuals).linearize(input);
    CHECK(mentions(message_of([&] { (void)scan.pullback(scan.value); }), "is now "));
}

TEST_CASE("row 99: a list that is longer the second time, and several that differ, are told") {
    std::vector<eddy::detail::StateDifference> found;
    const auto note = [&](const std::string& component, const auto& first, const auto& again) {
        found.push_back(
            {component, eddy::detail::value_text(first), eddy::detail::value_text(again)});
    };
    using State = std::tuple<std::vector<int>, std::array<float, 2>, Annotated>;
    const State a{{1, 2}, {1.0f, 2.0f}, {1.0, "a"}}, b{{1, 2, 3}, {1.5f, 2.5f}, {2.0, "b"}};

    eddy::detail::visit_differences(a, b, "", note);

    REQUIRE(found.size() == 4);
    CHECK(found[0].component == "<0> (number of elements)");
    CHECK(found[0].first == "2");
    CHECK(found[1].component == "<1>[0]");
    CHECK(found[2].again == "2.5");
    CHECK(found[3].component == "<2>");
    CHECK(found[3].first.empty());
}
