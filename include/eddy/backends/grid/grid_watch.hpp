#pragma once
// How the host and the kernels of a call tell each other: through a few numbers in the memory of the device, which the
// host copies in a stream of their own while kernels run. Kernels never wait for the bus: a read of the host's
// memory takes a microsecond of all warps that read.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <new>

namespace eddy::inline v0::detail {

/// One device's part of a call that somebody watches, or may stop.
template <class Runtime>
class GridWatch {
    using Stream = typename Runtime::Stream;

  public:
    /// Nobody does.
    GridWatch() = default;
    /// Before the first kernel is launched.
    GridWatch(int device, GridPool<Runtime>& pool, bool is_cancelled)
        : device_(device),
          stream_(pool.watch_stream()),
          there_(static_cast<GridMailbox*>(pool.reserve(GridPiece::mailbox, sizeof(GridMailbox)))),
          here_(::new (pool.page_locked(sizeof(GridMailbox))) GridMailbox) {
        here_->cancelled = is_cancelled_ = is_cancelled;
        copy(there_, here_, sizeof(GridMailbox));
    }

    /// As kernels know it; null where nobody watches.
    [[nodiscard]] GridMailbox* there() const { return there_; }
    /// Tells kernels at work to come to an end.
    void cancel() {
        if (is_cancelled_) return;
        const DeviceInUse<Runtime> in_use(device_);
        here_->cancelled = is_cancelled_ = 1;
        copy(&there_->cancelled, &here_->cancelled, sizeof here_->cancelled);
    }
    /// How far kernels are.
    [[nodiscard]] GridCounts look() {
        const DeviceInUse<Runtime> in_use(device_);
        copy(&here_->counts, &there_->counts, sizeof(GridCounts));
        return here_->counts;
    }

  private:
    void copy(void* to, const void* from, std::size_t num_bytes) const {
        int code = Runtime::copy(to, from, num_bytes, stream_);
        if (code == 0) code = Runtime::synchronize(stream_);
        require_done<Runtime>(code, "telling kernels of their caller");
    }

    int device_ = 0;
    Stream stream_{};
    GridMailbox* there_ = nullptr;
    GridMailbox* here_ = nullptr;
    bool is_cancelled_ = false;
};

}  // namespace eddy::inline v0::detail
