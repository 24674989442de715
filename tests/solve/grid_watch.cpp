// What passes between the host and kernels at work: once a millisecond, by one warp of all, whatever the order
// in which warps get on, and however far they get between two numbers.
#include <eddy/backends/grid/grid_watch.hpp>
#include <utility>

#include "solve/emulated_device.hpp"
#include "support/catch.hpp"
#include "support/emulated_grid.hpp"

namespace {

using eddy::detail::GridMailbox;
using eddy::detail::GridPiece;
using eddy::detail::GridRelay;
using support::EmulatedRuntime;

/// A warp that is alone, at one moment.
struct Clock {
    std::int64_t now;
    bool is_first = true;
    [[nodiscard]] std::int64_t nanoseconds() const { return now; }
    bool replace(std::int64_t& number, std::int64_t, std::int64_t by) const {
        if (is_first) number = by;
        return is_first;
    }
    static auto read(const auto& number) { return number; }
    static void write(auto& number, auto value) { number = value; }
    static void publish() {}
};

/// What the host does meanwhile, and a clock that goes on by a quarter of a millisecond with each look.
struct Meanwhile {
    const GridMailbox* mailbox = nullptr;
    std::int64_t quarters = 40, looks = 0, looks_at_host = 0;
    std::function<void()> host;
};
struct WatchedWarp : support::GridWarp {
    Meanwhile* meanwhile;

    WatchedWarp(eddy::test::EmulatedWarp& warp, int index, int num_warps, Meanwhile& all)
        : GridWarp(warp, index, num_warps), meanwhile(&all) {}

    [[nodiscard]] std::int64_t nanoseconds() const {
        ++meanwhile->looks;
        meanwhile->host();
        return ++meanwhile->quarters * 250'000;
    }
    template <class Number>
    [[nodiscard]] Number read(const Number& number) const {
        const void* const address = &number;
        meanwhile->looks_at_host +=
            address >= meanwhile->mailbox && address < meanwhile->mailbox + 1;
        return GridWarp::read(number);
    }
};

}  // namespace

TEST_CASE("grid watch: news is carried once a millisecond, and by one") {
    GridMailbox host;
    host.cancelled = 1;
    GridRelay relay;
    relay.carried_at = 5'000'000;
    relay.counts.lanes_done = 7;

    eddy::detail::carry_news(Clock{5'999'999}, relay, host);
    CHECK(relay.cancelled == 0);
    eddy::detail::carry_news(Clock{6'000'000, false}, relay, host);
    CHECK(relay.cancelled == 0);
    eddy::detail::carry_news(Clock{6'000'000}, relay, host);
    CHECK(relay.cancelled == 1);
    CHECK(relay.carried_at == 6'000'000);
    CHECK(host.counts.lanes_done == 7);
}

TEST_CASE("grid watch: every warp learns soon that it is to stop, and counts never go back") {
    constexpr int num_warps = 5;
    constexpr std::int64_t most_looks = 5000, told_after = 60;
    std::int64_t written_backwards = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        CAPTURE(seed);
        EmulatedRuntime::reset(seed);
        eddy::detail::GridPool<EmulatedRuntime> pool;
        pool.use(0);
        eddy::detail::GridWatch<EmulatedRuntime> watch(pool, 0, true, false);
        EmulatedRuntime::synchronize(0);
        GridMailbox& mailbox = *pool.mailbox().here;
        std::int64_t ended = 0, seen = 0, written = 0, wrong = 0;
        Meanwhile meanwhile{&mailbox, 40, 0, 0, {}};
        meanwhile.host = [&] {
            written_backwards += mailbox.counts.lanes_done < written;
            written = mailbox.counts.lanes_done;
            const std::int64_t now = watch.counts().lanes_done;
            wrong += now < std::exchange(seen, now) || now > ended;
            if (meanwhile.looks == told_after) watch.cancel();
        };
        std::int64_t told = 0;
        {
            const support::DevicePages::Open open(0);
            GridRelay& relay = *watch.relay();
            eddy::test::run_warps(num_warps, seed,
                                  [&](int index, eddy::test::EmulatedWarp& threads) {
                                      const WatchedWarp warp(threads, index, num_warps, meanwhile);
                                      if (warp.member() != 0) return;
                                      while (meanwhile.looks < most_looks) {
                                          ++ended;
                                          warp.add(relay.counts.lanes_done, 1);
                                          eddy::detail::carry_news(warp, relay, mailbox);
                                          if (warp.read(relay.cancelled) == 0) continue;
                                          ++told;
                                          break;
                                      }
                                  });
        }

        CHECK(told == num_warps);
        CHECK(wrong == 0);
        // Four looks are a millisecond; then one carries, while each of the others looks a few times.
        CHECK(meanwhile.looks < told_after + 4 + 4 * num_warps);
        CHECK(meanwhile.looks_at_host <= meanwhile.looks / 4 + 2);
        CHECK(seen > 0);
        CHECK(watch.last_counts(0).lanes_done == ended);
    }
    CHECK(written_backwards > 0);  // or nothing was tested
    EmulatedRuntime::reset();
}

TEST_CASE("grid watch: a call that is stopped before it begins finds that where it looks first") {
    EmulatedRuntime::reset();
    eddy::detail::GridPool<EmulatedRuntime> pool;
    pool.use(0);
    const eddy::detail::GridWatch<EmulatedRuntime> watch(pool, 0, true, true),
        of_nobody(pool, 0, false, false);
    EmulatedRuntime::synchronize(0);

    const support::DevicePages::Open open(0);
    CHECK(watch.relay()->cancelled == 1);
    CHECK(of_nobody.relay() == nullptr);
    CHECK(of_nobody.mailbox() != nullptr);
}
