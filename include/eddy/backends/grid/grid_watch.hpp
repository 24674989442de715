#pragma once
// How the host and the kernels of a call tell each other. The host writes into memory of its own that the device
// reaches; kernels look at a relay in the memory of the device, for a look at the host's takes a microsecond of all
// warps, one after another. Once in a while one warp of all carries news between the two. (Copies by the host
// would not do: calls that fill an H100 with warps could not be stopped so.)

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <eddy/core/host_device.hpp>
#include <new>

namespace eddy::inline v0::detail {

/// By a single thread: carries news if nobody has for a millisecond.
template <class Warp>
[[gnu::noinline]] EDDY_HD void carry_news(const Warp& warp, GridRelay& relay, GridMailbox& host) {
    constexpr std::int64_t nanoseconds_between = 1'000'000;
    const std::int64_t now = warp.nanoseconds();
    const std::int64_t last = static_cast<volatile GridRelay&>(relay).carried_at;
    if (now - last < nanoseconds_between || !warp.replace(relay.carried_at, last, now)) return;
    volatile GridMailbox& there = host;
    volatile GridRelay& here = relay;
    if (there.cancelled != 0) here.cancelled = 1;
    there.counts.lanes_done = here.counts.lanes_done;
    there.counts.accepted = here.counts.accepted;
    there.counts.rejected = here.counts.rejected;
}

/// One device's part of a call that somebody watches, or may stop.
template <class Runtime>
class GridWatch {
    using Stream = typename Runtime::Stream;

  public:
    /// Nobody does.
    GridWatch() = default;
    /// Before the first kernel, in the stream that it comes in.
    GridWatch(GridPool<Runtime>& pool, Stream stream, bool is_cancelled)
        : mailbox_(pool.mailbox()),
          relay_(static_cast<GridRelay*>(pool.reserve(GridPiece::relay, sizeof(GridRelay)))) {
        ::new (mailbox_.here) GridMailbox;
        if (is_cancelled) cancel();
        constexpr GridRelay no_news;
        require_done<Runtime>(Runtime::copy(relay_, &no_news, sizeof no_news, stream),
                              "copying to the device");
    }

    /// As kernels know them; null where nobody watches.
    [[nodiscard]] GridRelay* relay() const { return relay_; }
    [[nodiscard]] GridMailbox* mailbox() const { return mailbox_.there; }
    /// Kernels at work are to come to an end.
    void cancel() { static_cast<volatile GridMailbox&>(*mailbox_.here).cancelled = 1; }
    /// How far kernels were when news was last carried.
    [[nodiscard]] GridCounts counts() const {
        const volatile GridMailbox& now = *mailbox_.here;
        return {now.counts.lanes_done, now.counts.accepted, now.counts.rejected};
    }
    /// How far they have come, when they are done.
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
};

}  // namespace eddy::inline v0::detail
