#include <eddy/checkpoint/while_loop.hpp>

#include <eddy/ad/differentiable.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/checkpoint/scan.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using eddy::LoopOptions;
using eddy::Placement;
using std::int64_t;

namespace {

// x -> a x (1 - x), with its derivative.
struct Logistic {
    double a;

    struct Linearization {
        double value, slope;
        double pullback(double cotangent) { return slope * cotangent; }
    };

    double operator()(double x) const { return a * x * (1 - x); }
    Linearization linearize(double x) const { return {(*this)(x), a * (1 - 2 * x)}; }
};

/// The same, which counts its evaluations without a linearization.
struct CountedLogistic {
    int* evaluations;
    double operator()(double x) const { return ++*evaluations, Logistic{3.1}(x); }
    [[nodiscard]] Logistic::Linearization linearize(double x) const {
        return Logistic{3.1}.linearize(x);
    }
};

const auto seven_times = [](double, int64_t step) { return step < 7; };

// (carry, x) -> (c, c x) where c = inner(carry + x): a loop as the body of a scan.
template <class Inner>
struct LoopBody {
    Inner inner;
    using Pair = std::pair<double, double>;

    template <class InnerLinearization>
    struct Linearization {
        InnerLinearization kept;
        double x;
        Pair value;
        Pair pullback(const Pair& cotangent) {
            const double sum = kept.pullback(cotangent.first + cotangent.second * x);
            return {sum, sum + cotangent.second * value.first};
        }
    };

    Pair operator()(const Pair& input) const {
        const double carry = inner(input.first + input.second);
        return {carry, carry * input.second};
    }
    auto linearize(const Pair& input) const {
        auto kept = inner.linearize(input.first + input.second);
        const double carry = kept.value;
        return Linearization<decltype(kept)>{
            std::move(kept), input.second, {carry, carry * input.second}};
    }
};

using State = std::pair<double, std::vector<double>>;
const State first{0.2, {0.1, 0.05, 0.2, 0.15, 0.02}};
const State last_cotangent{1.0, {0.5, -1.0, 0.25, 2.0, 1.0}};

// A loop in a scan in a loop.
auto three_levels(const LoopOptions& outer, const LoopOptions& middle, const LoopOptions& inner) {
    const auto innermost = eddy::while_loop(seven_times, Logistic{3.1}, inner);
    const auto body = eddy::scan(LoopBody<decltype(innermost)>{innermost}, middle);
    return eddy::while_loop([](const State&, int64_t step) { return step < 6; }, body, outer);
}

}  // namespace

TEST_CASE(
    "while_loop: is a Differentiable whose value and pullback are those of the composed steps") {
    const auto loop = eddy::while_loop(seven_times, Logistic{3.1});
    STATIC_REQUIRE(eddy::Differentiable<decltype(loop), double>);

    double x = 0.3, slope = 1;
    for (int i = 0; i < 7; ++i) {
        slope *= 3.1 * (1 - 2 * x);
        x = Logistic{3.1}(x);
    }
    auto linearization = loop.linearize(0.3);

    CHECK(loop(0.3) == x);
    CHECK(linearization.value == x);
    // The same factors in another order: 7 roundings each way.
    CHECK(std::abs(linearization.pullback(1.0) - slope) <= 14 * 1.2e-16 * std::abs(slope));
    CHECK(linearization.steps() == 7);
    CHECK(linearization.counters().pullbacks == 7);
}

TEST_CASE(
    "while_loop: the condition may look at the state alone, and the length may depend on it") {
    const auto shrink = eddy::while_loop([](double x) { return x > 1; }, Logistic{-0.01});

    CHECK(shrink(0.5) == 0.5);
    CHECK(shrink.linearize(0.5).pullback(2.0) == 2.0);
    CHECK(shrink.linearize(50.0).steps() == 3);  // 50, 24.5, 5.76, 0.27
}

TEST_CASE("while_loop: composes with other differentiables") {
    const auto composed =
        eddy::compose(Logistic{2.0}, eddy::while_loop(seven_times, Logistic{3.1}));
    auto linearization = composed.linearize(0.3);
    auto inner = eddy::while_loop(seven_times, Logistic{3.1}).linearize(0.3);
    const double x = inner.value;

    CHECK(linearization.value == 2.0 * x * (1 - x));
    CHECK(linearization.pullback(1.0) == inner.pullback(2.0 * (1 - 2 * x)));
}

TEST_CASE(
    "while_loop: a loop in a scan in a loop, bit for bit the same under every placement of every "
    "level") {
    const LoopOptions all{.max_steps = 20, .placement = Placement::store_all};
    const std::vector<LoopOptions> unknown_length = {
        {.checkpoints = 1},
        {.checkpoints = 2},
        {.checkpoints = 3, .placement = Placement::online_treeverse},
        {.nested_lengths = {2, 2, 2}}};
    const std::vector<LoopOptions> known_length = {{.checkpoints = 1},
                                                   {.checkpoints = 2},
                                                   {.placement = Placement::square_root},
                                                   {.nested_lengths = {5}}};

    auto expected = three_levels(all, {.placement = Placement::store_all}, all).linearize(first);
    const State gradient = expected.pullback(last_cotangent);

    CHECK(three_levels(all, {.checkpoints = 2}, all)(first) == expected.value);
    for (const LoopOptions& outer : unknown_length) {
        for (const LoopOptions& middle : known_length) {
            for (const LoopOptions& inner : unknown_length) {
                auto found = three_levels(outer, middle, inner).linearize(first);
                CHECK(found.value == expected.value);
                CHECK(found.pullback(last_cotangent) == gradient);
            }
        }
    }
}

TEST_CASE("while_loop: the gradient through three levels agrees with central differences") {
    const auto loop = three_levels({.checkpoints = 2}, {.checkpoints = 2}, {.checkpoints = 2});
    const auto value = [&](const State& x) {
        const State y = loop(x);
        double sum = last_cotangent.first * y.first;
        for (std::size_t i = 0; i < y.second.size(); ++i)
            sum += last_cotangent.second[i] * y.second[i];
        return sum;
    };
    // Central differences with h = 1e-6: rounding eps |f| / h is 1e-10, and the h^2 term below it
    // unless f''' > 1e2.
    constexpr double h = 1e-6;

    const State gradient = loop.linearize(first).pullback(last_cotangent);

    State up = first, down = first;
    up.first += h;
    down.first -= h;
    CHECK(std::abs(gradient.first - (value(up) - value(down)) / (2 * h)) < 1e-8);
    for (std::size_t i = 0; i < first.second.size(); ++i) {
        up = down = first;
        up.second[i] += h;
        down.second[i] -= h;
        CHECK(std::abs(gradient.second[i] - (value(up) - value(down)) / (2 * h)) < 1e-8);
    }
}

TEST_CASE("while_loop: bad options are refused when the loop is made") {
    CHECK_THROWS_AS(eddy::while_loop(seven_times, Logistic{3.1}, {}), eddy::InvalidArgument);
    CHECK(support::mentions(
        support::message_of([] { (void)eddy::while_loop(seven_times, Logistic{3.1}, {}); }),
        "while_loop: checkpoints = 0"));
}

TEST_CASE("while_loop: stops at max_steps, and the linearization says so") {
    const auto loop =
        eddy::while_loop(seven_times, Logistic{3.1}, {.checkpoints = 2, .max_steps = 3});
    auto linearization = loop.linearize(0.3);

    CHECK(linearization.value == loop(0.3));
    CHECK(linearization.steps() == 3);
    CHECK(linearization.result() == eddy::Result::max_steps_reached);
}

namespace {

/// A state that counts how many of its kind are alive; one that was moved from is none.
class Counted {
  public:
    static inline int alive = 0;

    explicit Counted(double value) : value_{value} { ++alive; }
    Counted(const Counted& other) : value_(other.value_) { alive += other.is_alive(); }
    Counted(Counted&& other) noexcept : value_(std::exchange(other.value_, {})) {}
    Counted& operator=(Counted other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Counted() { alive -= is_alive(); }

    [[nodiscard]] double number() const { return value_.at(0); }
    bool operator==(const Counted&) const = default;

  private:
    [[nodiscard]] int is_alive() const { return value_.empty() ? 0 : 1; }
    std::vector<double> value_;
};

/// How often a function was evaluated, and linearized.
struct Calls {
    int evaluations = 0, linearizations = 0;
    bool operator==(const Calls&) const = default;
};

/// sin of a state that is counted, in calls that are counted.
struct Sine {
    Calls* calls;

    struct Linearization {
        Counted x, value;
        [[nodiscard]] Counted pullback(const Counted& cotangent) const {
            return Counted(cotangent.number() * std::cos(x.number()));
        }
        Counted take_value() { return std::move(value); }
    };
    Counted operator()(const Counted& x) const {
        ++calls->evaluations;
        return Counted(std::sin(x.number()));
    }
    [[nodiscard]] Linearization linearize(const Counted& x) const {
        ++calls->linearizations;
        return {x, Counted(std::sin(x.number()))};
    }
};

/// (carry, x) -> (sin(carry) + x, carry), likewise.
struct SineCell {
    using Pair = std::pair<Counted, Counted>;
    Calls* calls;

    struct Linearization {
        Counted carry;
        Pair value;
        [[nodiscard]] Pair pullback(const Pair& c) const {
            const double of_carry = c.first.number() * std::cos(carry.number()) + c.second.number();
            return {Counted(of_carry), c.first};
        }
        Pair take_value() { return std::move(value); }
    };
    Pair operator()(const Pair& in) const {
        ++calls->evaluations;
        return {Counted(std::sin(in.first.number()) + in.second.number()), in.first};
    }
    [[nodiscard]] Linearization linearize(const Pair& in) const {
        ++calls->linearizations;
        return {in.first, {Counted(std::sin(in.first.number()) + in.second.number()), in.first}};
    }
};

template <class F, class... Inputs>
int states_held(const F& f, const Inputs&... x) {
    const int before = Counted::alive;
    const auto linearization = f.linearize(x...);
    return Counted::alive - before;
}

}  // namespace

TEST_CASE("compose: dropped stages hold their inputs and the value, each once") {
    Calls calls;
    const auto dropped = eddy::remat(Sine{&calls});
    const auto four = eddy::compose(dropped, dropped, dropped, dropped);
    const Counted x(0.3);

    CHECK(states_held(four, x) == 4 + 1);
    CHECK(states_held(dropped, x) == 1 + 1);
    CHECK(states_held(eddy::compose(dropped, eddy::compose(dropped, dropped)), x) == 3 + 1);
    auto linearization = four.linearize(x);
    const auto plain = Sine{&calls};
    auto expected = eddy::compose(plain, plain, plain, plain).linearize(x);
    CHECK(linearization.value == expected.value);
    CHECK(linearization.pullback(Counted(1)) == expected.pullback(Counted(1)));
}

TEST_CASE("while_loop: holds its checkpoints and the value; a scan inputs, checkpoints, outputs") {
    Calls calls;
    const auto twenty = [](const Counted&, int64_t step) { return step < 20; };
    const auto loop = eddy::while_loop(twenty, Sine{&calls}, {.checkpoints = 5});
    const Counted x(0.3);
    CHECK(states_held(loop, x) == 5 + 1);

    const auto scan = eddy::scan(SineCell{&calls}, {.checkpoints = 4});
    const std::pair input(x, std::vector<Counted>(16, Counted(0.1)));
    CHECK(states_held(scan, input) == 16 + 4 + 16 + 1);
}

TEST_CASE("while_loop, scan: store_all evaluates nothing twice") {
    Calls calls;
    const auto twelve = [](const Counted&, int64_t step) { return step < 12; };
    const LoopOptions all{.max_steps = 12, .placement = Placement::store_all};
    const Counted x(0.3);

    auto loop = eddy::while_loop(twelve, Sine{&calls}, all).linearize(x);
    const Counted gradient = loop.pullback(Counted(1));
    CHECK(calls == Calls{0, 12});
    CHECK(loop.counters().advances == 12);
    CHECK(loop.counters().pullbacks == 12);
    CHECK_THROWS_AS(loop.pullback(Counted(1)), eddy::InvalidArgument);
    auto few = eddy::while_loop(twelve, Sine{&calls}, {.checkpoints = 2}).linearize(x);
    CHECK(few.value == loop.value);
    CHECK(few.pullback(Counted(1)) == gradient);

    calls = {};
    const std::pair input(x, std::vector<Counted>(12, Counted(0.1)));
    auto scan = eddy::scan(SineCell{&calls}).linearize(input);
    (void)scan.pullback(scan.value);
    CHECK(calls == Calls{0, 12});
}

TEST_CASE("scan: with checkpoints and residuals a step is evaluated at most once again") {
    const std::pair input(Counted(0.3), std::vector<Counted>(64, Counted(0.1)));
    Calls calls;
    auto all = eddy::scan(SineCell{&calls}).linearize(input);
    const auto gradient = all.pullback(all.value);
    const auto evaluations = [&](const LoopOptions& options) {
        calls = {};
        auto scan = eddy::scan(SineCell{&calls}, options).linearize(input);
        CHECK(scan.value == all.value);
        CHECK(scan.pullback(scan.value) == gradient);
        CHECK(scan.counters().advances == calls.evaluations + calls.linearizations);
        return calls.evaluations + calls.linearizations;
    };

    CHECK(evaluations({.checkpoints = 8, .keep = eddy::Keep::residuals}) == 64 + 56);
    CHECK(evaluations({.checkpoints = 1, .keep = eddy::Keep::residuals}) == 64);
    CHECK(evaluations({.checkpoints = 7, .keep = eddy::Keep::residuals}) == 64 + 60);
    CHECK(evaluations({.checkpoints = 100, .keep = eddy::Keep::residuals}) == 64 + 63);
    CHECK(evaluations(
              {.placement = Placement::periodic, .period = 10, .keep = eddy::Keep::residuals}) ==
          64 + 60);
}

// row 8: a budget in bytes
TEST_CASE("while_loop: memory_bytes instead of checkpoints, and the bytes that were stored") {
    const auto counters = [](const LoopOptions& options) {
        auto loop = eddy::while_loop(seven_times, Logistic{3.1}, options).linearize(0.3);
        static_cast<void>(loop.pullback(1.0));
        return loop.counters();
    };
    const auto message = [&](const LoopOptions& options) {
        return support::message_of([&] { (void)counters(options); });
    };

    CHECK(counters({.memory_bytes = 3 * 8 + 7}) == counters({.checkpoints = 3}));
    CHECK(counters({.memory_bytes = 3 * 8}).peak_bytes == 3 * 8);
    CHECK(counters({.memory_bytes = 1 << 20}).recomputed == 0);
    CHECK(support::mentions(message({.memory_bytes = 7}), "the first state takes 8"));
    CHECK(support::mentions(message({.checkpoints = 2, .memory_bytes = 80}),
                            "memory_bytes together with checkpoints"));
    CHECK(support::mentions(message({.memory_bytes = -1}), "memory_bytes = -1"));
    // What a step keeps is two numbers.
    const auto few = counters({.memory_bytes = 80, .length = 7, .keep = eddy::Keep::residuals});
    CHECK(few.peak_bytes <= 80);
    CHECK(few.advances == eddy::plan_scan({7, 8, 16}, 80 - 8).evaluations);
    CHECK(support::mentions(message({.memory_bytes = 80, .keep = eddy::Keep::residuals}),
                            "for a known number of steps"));
    struct Lists {
        struct Linearization {
            double value;
            std::vector<double> kept;
            [[nodiscard]] double pullback(double c) const { return c * kept[0]; }
        };
        double operator()(double x) const { return 2 * x; }
        [[nodiscard]] Linearization linearize(double x) const { return {2 * x, {2}}; }
    };
    const auto lists = eddy::while_loop(
        seven_times, Lists{}, {.memory_bytes = 80, .length = 7, .keep = eddy::Keep::residuals});
    CHECK(support::mentions(support::message_of([&] { (void)lists.linearize(0.3); }),
                            "each of which keeps as many bytes"));
}

TEST_CASE("while_loop: residuals for an unknown number of steps, or of nested scans, are refused") {
    const auto message = [](const LoopOptions& options) {
        return support::message_of(
            [&] { (void)eddy::while_loop(seven_times, Logistic{3.1}, options).linearize(0.3); });
    };

    CHECK(support::mentions(message({.checkpoints = 3, .keep = eddy::Keep::residuals}),
                            "for an unknown number of steps"));
    CHECK(support::mentions(
        message({.length = 8, .nested_lengths = {2, 4}, .keep = eddy::Keep::residuals}),
        "with nested_lengths"));
    // A condition that ends before the length does: the last segment is a short one.
    auto early = eddy::while_loop(seven_times, Logistic{3.1},
                                  {.checkpoints = 3, .length = 9, .keep = eddy::Keep::residuals})
                     .linearize(0.3);
    auto expected = eddy::while_loop(seven_times, Logistic{3.1}).linearize(0.3);
    CHECK(early.value == expected.value);
    CHECK(early.pullback(1.0) == expected.pullback(1.0));
}

TEST_CASE("remat: of functions recomputes as far as the pullback needs, not to the end") {
    // h after g: on the way back g is evaluated, of h only the linearization, which is asked for at
    // its input.
    struct WithoutValue : Sine {
        Counted pullback_at(const Counted& cotangent, const Counted& x) const {
            return Counted(cotangent.number() * std::cos(x.number()));
        }
    };
    Calls inner, outer;
    const auto both = eddy::remat(eddy::compose(WithoutValue{{&outer}}, Sine{&inner}));
    auto linearization = both.linearize(Counted(0.3));
    CHECK(inner == Calls{1, 0});
    CHECK(outer == Calls{1, 0});

    const Counted gradient = linearization.pullback(Counted(1));
    CHECK(inner == Calls{1, 1});
    CHECK(outer == Calls{1, 0});
    CHECK(gradient == Counted(1 * std::cos(std::sin(0.3)) * std::cos(0.3)));
}

TEST_CASE("row 94: a loop or scan that is dropped does not make its last step again") {
    struct WithoutValue : Sine {
        Counted pullback_at(const Counted& cotangent, const Counted& x) const {
            return Counted(cotangent.number() * std::cos(x.number()));
        }
    };
    const auto all = eddy::Placement::store_all;
    const std::vector<LoopOptions> many{{.checkpoints = 100},
                                        {.checkpoints = 100, .length = 5},
                                        {.nested_lengths = {5, 1}},
                                        {.max_steps = 9, .placement = all}};
    Calls calls;
    int asked = 0;
    const auto five = [&](const Counted&, int64_t step) { return ++asked, step < 5; };
    const auto runs_of = [&](const LoopOptions& options) {
        const auto loop = eddy::while_loop(five, WithoutValue{{&calls}}, options);
        const Counted expected = loop.linearize(Counted(0.3)).pullback(Counted(1));
        auto dropped = eddy::remat(loop).linearize(Counted(0.3));
        calls = {}, asked = 0;
        CHECK(dropped.pullback(Counted(1)) == expected);
        CHECK(asked == 0);  // the number of steps is known
        return calls.evaluations;
    };
    for (const LoopOptions& options : many) {
        // All states are kept: each step but the last is made once.
        if (options.placement != all) CHECK(runs_of(options) == 4);
    }
    CHECK(runs_of(many[3]) == 0);  // as linearizations
    CHECK(calls == Calls{0, 4});

    int inner = 0;
    const auto body = LoopBody<CountedLogistic>{CountedLogistic{&inner}};
    const State from{0.2, {0.1, 0.05, 0.2, 0.15, 0.02}};
    for (const LoopOptions& options :
         {LoopOptions{.checkpoints = 5}, LoopOptions{.nested_lengths = {5, 1}}}) {
        const auto scan = eddy::scan(body, options);
        const State expected = scan.linearize(from).pullback(last_cotangent);
        auto dropped = eddy::remat(scan).linearize(from);
        inner = 0;
        CHECK(dropped.pullback(last_cotangent) == expected);
        CHECK(inner == 4);  // advances; linearizations are not counted
    }
    const State empty{0.2, {}};
    CHECK(eddy::remat(eddy::scan(body, {.checkpoints = 5})).linearize(empty).pullback(empty) ==
          empty);
}

TEST_CASE("remat: the stage that is dropped runs twice, and no other, one in the other too") {
    Calls g, h, two_a, two_b;
    const auto runs_of = [&](const auto& f) {
        g = h = two_a = two_b = {};
        const Counted of_x = f.linearize(Counted(0.3)).pullback(Counted(1));
        CHECK(of_x.number() != 0);
        return std::pair(g.evaluations + g.linearizations, h.evaluations + h.linearizations);
    };
    using eddy::compose, eddy::remat;
    const Sine first{&g}, last{&h};
    CHECK(runs_of(compose(last, first)) == std::pair(1, 1));
    CHECK(runs_of(compose(last, remat(first))) == std::pair(2, 1));
    CHECK(runs_of(remat(compose(last, first))) == std::pair(2, 2));
    CHECK(runs_of(compose(remat(last), first)) == std::pair(1, 2));

    // A dropped stage in a dropped stage: its value is not asked for when the outer one runs again.
    const auto two = remat(compose(remat(Sine{&two_b}), Sine{&two_a}));
    CHECK(runs_of(compose(last, two, first)) == std::pair(1, 1));
    CHECK(two_a == Calls{1, 1});
    CHECK(two_b == Calls{1, 1});
}

TEST_CASE("row 28: of two stages the first is dropped and runs twice, the second once") {
    Calls first, second;
    const auto f = eddy::compose(Sine{&second}, eddy::remat(Sine{&first}));

    auto linearization = f.linearize(Counted(0.3));
    CHECK(first == Calls{1, 0});
    CHECK(second == Calls{0, 1});
    const Counted gradient = linearization.pullback(Counted(1));

    CHECK(first == Calls{1, 1});
    CHECK(second == Calls{0, 1});
    CHECK(gradient == Counted(1 * std::cos(std::sin(0.3)) * std::cos(0.3)));
}

TEST_CASE("row 33: dropped as a whole every stage runs twice, as the last stage that one in vain") {
    Calls first, second;
    const auto whole = eddy::remat(eddy::compose(Sine{&second}, Sine{&first}));
    static_cast<void>(whole.linearize(Counted(0.3)).pullback(Counted(1)));
    CHECK(first == Calls{1, 1});
    CHECK(second == Calls{1, 1});

    // row 32: what the last stage keeps would be alive at the turn anyway
    first = second = {};
    const auto last = eddy::compose(eddy::remat(Sine{&second}), Sine{&first});
    static_cast<void>(last.linearize(Counted(0.3)).pullback(Counted(1)));
    CHECK(first == Calls{0, 1});
    CHECK(second == Calls{1, 1});
}

TEST_CASE("row 57: a dropped stage in a dropped stage runs again once, as does the stage before") {
    Calls one, two_a, two_b, three;
    const auto f = eddy::compose(
        Sine{&three}, eddy::remat(eddy::compose(eddy::remat(Sine{&two_b}), Sine{&two_a})),
        Sine{&one});

    auto linearization = f.linearize(Counted(0.3));
    CHECK(one == Calls{0, 1});
    CHECK(two_a == Calls{1, 0});
    CHECK(two_b == Calls{1, 0});
    CHECK(three == Calls{0, 1});
    const Counted gradient = linearization.pullback(Counted(1));

    // On the way back the inner stage is linearized at once: its value is not asked for.
    CHECK(one == Calls{0, 1});
    CHECK(two_a == Calls{1, 1});
    CHECK(two_b == Calls{1, 1});
    CHECK(three == Calls{0, 1});
    const Sine plain{&one};
    auto expected = eddy::compose(plain, plain, plain, plain).linearize(Counted(0.3));
    CHECK(gradient == expected.pullback(Counted(1)));
}

TEST_CASE("row 100: a loop within remat is pulled back as often as one likes") {
    Calls calls;
    const auto twelve = [](const Counted&, int64_t step) { return step < 12; };
    const auto loop = eddy::while_loop(twelve, Sine{&calls}, {.checkpoints = 3});
    auto expected = loop.linearize(Counted(0.3));
    const Counted gradient = expected.pullback(Counted(1));
    auto linearization = eddy::remat(loop).linearize(Counted(0.3));

    CHECK(linearization.pullback(Counted(1)) == gradient);
    calls = {};
    CHECK(linearization.pullback(Counted(1)) == gradient);
    CHECK(calls.linearizations == 12);
    CHECK(linearization.pullback(Counted(-1)) == Counted(-gradient.number()));
}
