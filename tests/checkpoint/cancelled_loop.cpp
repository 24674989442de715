// A stop token is heeded on the way forward and on the way back, whatever holds the checkpoints.

#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::CheckpointedLoop;
using eddy::Result;
using std::int64_t;
using support::StrictStore;

namespace {

// Requests a stop in a chosen call.
struct Stopping {
    std::stop_source* stop;
    int64_t advances_left = -1;
    int64_t pullbacks_left = -1;
    mutable int64_t advances = 0;
    int64_t pullbacks = 0;

    double advance(double x, int64_t) const {
        if (advances++ == advances_left) stop->request_stop();
        return x + 1;
    }
    double pullback(double, int64_t, double cotangent) {
        if (pullbacks++ == pullbacks_left) stop->request_stop();
        return 2 * cotangent;
    }
};

using Loop = CheckpointedLoop<double, Stopping, StrictStore<double>>;

auto below(int64_t length) {
    return [length](double, int64_t step) { return step < length; };
}

}  // namespace

TEST_CASE("cancelled_loop: a cancelled run says so, frees its slots and cannot be reversed") {
    std::stop_source stop;
    Loop loop(Stopping{&stop, 11}, {.checkpoints = 3, .cancelled = stop.get_token()});

    CHECK(loop.run(0.0, below(30)) == 12.0);
    CHECK(loop.result() == Result::cancelled);
    CHECK(loop.store().held() == 0);
    CHECK_THROWS_AS(loop.reverse(1.0), eddy::InvalidArgument);
    CHECK(support::message_of([&] { (void)loop.reverse(1.0); }) ==
          "CheckpointedLoop::reverse: there is no finished run to reverse, because it was "
          "cancelled; call run first");
}

TEST_CASE("cancelled_loop: a cancelled reversal throws, says so, and frees its slots") {
    for (int64_t call = 0; call < 40; ++call) {  // of advance or of pullback, on the way back
        for (const bool in_pullback : {false, true}) {
            std::stop_source stop;
            Loop loop(Stopping{&stop}, {.checkpoints = 3, .cancelled = stop.get_token()});
            loop.run(0.0, below(30));
            loop.body().advances_left = in_pullback ? -1 : 30 + call;
            loop.body().pullbacks_left = in_pullback ? call : -1;
            if (in_pullback && call >= 29) break;  // none is left to be cancelled after the last

            INFO((in_pullback ? "pullback " : "advance ") << call);
            CHECK_THROWS_AS(loop.reverse(1.0), eddy::Cancelled);
            CHECK(loop.result() == Result::cancelled);
            CHECK(loop.store().held() == 0);
            CHECK(loop.counters().advances == loop.body().advances);
            CHECK(loop.counters().recomputed == loop.body().advances - 30);
            CHECK(loop.counters().pullbacks == loop.body().pullbacks);
            if (in_pullback) CHECK(loop.body().pullbacks == call + 1);
            if (!in_pullback) CHECK(loop.body().advances == 31 + call);
        }
    }
}

TEST_CASE("cancelled_loop: poll is asked before each step, forward and back, kept or recomputed") {
    std::stop_source never;
    int asked = 0, most = 1000;
    const auto poll = [&] { return ++asked <= most; };
    Loop loop(Stopping{&never}, {.checkpoints = 3, .poll = poll});
    loop.run(0.0, below(30));
    CHECK(asked == 30);
    CHECK(loop.reverse(1.0) == 1073741824.0);
    CHECK(asked == 30 + loop.counters().recomputed + loop.counters().pullbacks);

    // It says no on the way back, and on the way forward; it throws.
    most = 30 + 20, asked = 0;
    loop.run(0.0, below(30));
    CHECK_THROWS_AS(loop.reverse(1.0), eddy::Cancelled);
    CHECK(loop.result() == Result::cancelled);
    CHECK(loop.store().held() == 0);
    CHECK(asked == 51);
    most = 7, asked = 0;
    CHECK(loop.run(0.0, below(30)) == 7.0);
    CHECK(loop.result() == Result::cancelled);
    Loop throwing(Stopping{&never}, {.checkpoints = 3, .poll = [&]() -> bool {
                                         if (++asked > 40) throw std::runtime_error("interrupted");
                                         return true;
                                     }});
    asked = 0;
    throwing.run(0.0, below(30));
    CHECK_THROWS_AS(throwing.reverse(1.0), std::runtime_error);
    CHECK(throwing.store().held() == 0);

    // Where the linearization of every step is kept.
    struct Doubled {
        struct Linearization {
            double value;
            double pullback(double cotangent) const { return 2 * cotangent; }
        };
        double operator()(double x) const { return 2 * x; }
        Linearization linearize(double x) const { return {2 * x}; }
    };
    most = 20 + 15, asked = 0;
    auto kept =
        eddy::while_loop(below(20), Doubled{},
                         {.max_steps = 50, .placement = eddy::Placement::store_all, .poll = poll})
            .linearize(1.0);
    CHECK(asked == 20);
    CHECK_THROWS_AS(kept.pullback(1.0), eddy::Cancelled);
    CHECK(asked == 36);
}

TEST_CASE("cancelled_loop: a reversal that was cancelled says where it stopped") {
    std::stop_source stop;
    Loop loop(Stopping{&stop, -1, 9}, {.checkpoints = 3, .cancelled = stop.get_token()});
    loop.run(0.0, below(30));

    CHECK(support::message_of([&] { (void)loop.reverse(1.0); }) ==
          "CheckpointedLoop::reverse: cancelled when 10 of 30 steps had been reversed; call run "
          "and reverse again for a gradient");
}

TEST_CASE("cancelled_loop: a scan that is cancelled on its way back throws") {
    struct Sum {
        std::stop_source* stop;
        std::pair<double, double> advance(double carry, double x, int64_t) const {
            return {carry + x, carry};
        }
        std::pair<double, double> pullback(double, double, int64_t step, double of_carry,
                                           double of_output) {
            if (step == 6) stop->request_stop();
            return {of_carry + of_output, of_carry};
        }
    };
    std::stop_source stop;
    auto scan = eddy::checkpoint_scan(Sum{&stop}, 0.0, std::vector<double>(20, 1.0),
                                      {.checkpoints = 3, .cancelled = stop.get_token()});

    CHECK_THROWS_AS(scan.reverse(1.0, std::vector<double>(20, 0.0)), eddy::Cancelled);
    CHECK(scan.result() == Result::cancelled);
}

TEST_CASE("cancelled_loop: a loop inside a loop takes the outer one with it") {
    struct Doubled {
        struct Linearization {
            std::stop_source* stop;
            double value;
            double pullback(double cotangent) const {
                if (value > 100) stop->request_stop();
                return 2 * cotangent;
            }
        };
        std::stop_source* stop;
        double operator()(double x) const { return 2 * x; }
        Linearization linearize(double x) const { return {stop, 2 * x}; }
    };
    std::stop_source stop;
    const auto four_times = [](double, int64_t step) { return step < 4; };
    const auto inner = eddy::while_loop(four_times, Doubled{&stop},
                                        {.checkpoints = 2, .cancelled = stop.get_token()});
    const auto outer = eddy::while_loop(four_times, inner, {.checkpoints = 2});
    auto linearization = outer.linearize(1.0);

    CHECK(linearization.value == 65536.0);
    CHECK_THROWS_AS(linearization.pullback(1.0), eddy::Cancelled);
}
