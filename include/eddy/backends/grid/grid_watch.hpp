#pragma once
// How the host and the kernels of a call tell each other. The host writes into memory of its own that the device
// reaches; kernels look at a relay in the memory of the device, for a look at the host's takes a microsecond of all
// warps, one after another. Once in a while one warp of all carries news between the two. (Copies by the host
// would not do: calls that fill an H100 with warps could not be stopped so.)
// Test: tests/solve/grid_watch.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <new>

namespace eddy::inline v0::detail {

/// A single thread carries news, if nobody has for a millisecond. Nobody waits for another here: whoever
/// runs may carry, so that news arrives however few warps the device holds at a time. Numbers are read and written
/// whole, past the caches of a processor, and none says anything of another: their order does not matter. One
/// who carried later may be done first; the host takes the larger count.
template <class Warp>
[[gnu::noinline]] EDDY_HD void carry_news(const Warp& warp, GridRelay& relay, GridMailbox& host) {
    constexpr std::int64_t nanoseconds_between = 1'000'000;
    const std::int64_t now = warp.nanoseconds();
    const std::int64_t last = warp.read(relay.carried_at);
    if (now - last < nanoseconds_between || !warp.replace(relay.carried_at, last, now)) return;
    if (warp.read(host.cancelled) != 0) warp.write(relay.cancelled, 1);
    warp.write(host.counts.lanes_done, warp.read(relay.counts.lanes_done));
    warp.write(host.counts.accepted, warp.read(relay.counts.accepted));
    warp.write(host.counts.rejected, warp.read(relay.counts.rejected));
    warp.publish();
}

/// One device's part of a call that somebody watches, or may stop.
template <class Runtime>
class GridWatch {
    using Stream = typename Runtime::Stream;

  public:
    /// A watch without anybody who watches.
    GridWatch() = default;
    /// Takes mailbox and relay before the first kernel, in its stream. Who waits for a call reads its mailbox; who may
    /// stop it, or watches it, has a relay as well.
    GridWatch(GridPool<Runtime>& pool, Stream stream, bool has_relay, bool is_cancelled)
        : mailbox_(pool.mailbox()) {
        ::new (mailbox_.here) GridMailbox;
        if (!has_relay) return;
        relay_ = static_cast<GridRelay*>(pool.reserve(GridPiece::relay, sizeof(GridRelay)));
        if (is_cancelled) cancel();
        const GridRelay no_news{.cancelled = is_cancelled ? 1 : 0, .carried_at = 0, .counts = {}};
        require_done<Runtime>(Runtime::copy(relay_, &no_news, sizeof no_news, stream),
                              "copying to the device");
    }

    /// The relay as kernels know it; null where nobody watches.
    [[nodiscard]] GridRelay* relay() const { return relay_; }
    [[nodiscard]] GridMailbox* mailbox() const { return mailbox_.there; }
    /// Kernels at work are to come to an end.
    void cancel() { static_cast<volatile GridMailbox&>(*mailbox_.here).cancelled = 1; }
    /// How far kernels were when news was last carried: never less than before.
    [[nodiscard]] GridCounts counts() {
        const volatile GridMailbox& now = *mailbox_.here;
        seen_.lanes_done = max<std::int64_t>(seen_.lanes_done, now.counts.lanes_done);
        seen_.accepted = max<std::int64_t>(seen_.accepted, now.counts.accepted);
        seen_.rejected = max<std::int64_t>(seen_.rejected, now.counts.rejected);
        return seen_;
    }
    /// When kernels are done: has a lane failed, and was a number that they were given not finite?
    [[nodiscard]] bool has_failed() const { return mailbox_.here->has_failed != 0; }
    [[nodiscard]] bool is_not_finite() const { return mailbox_.here->is_not_finite != 0; }
    /// How far kernels have come when they are done.
    [[nodiscard]] GridCounts last_counts(Stream stream) const {
        GridCounts counts;
        int code = Runtime::copy(&counts, &relay_->counts, sizeof counts, stream);
        if (code == 0) code = Runtime::synchronize(stream);
        require_done<Runtime>(code, "copying from the device");
        return counts;
    }

  private:
    typename GridPool<Runtime>::Mailbox mailbox_{};
    GridRelay* relay_ = nullptr;
    GridCounts seen_;
};

}  // namespace eddy::inline v0::detail
