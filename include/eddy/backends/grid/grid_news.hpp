#pragma once
// The host's part of a call while its kernels are at work: the caller is asked whether to go on, told how far they
// are, and heard by them (grid_watch.hpp).
// Test: tests/solve/grid_watch.cpp

#include <eddy/backends/grid/grid_watch.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <vector>

namespace eddy::inline v0::detail {

template <class Runtime>
class GridNews {
    using Watches = std::vector<GridWatch<Runtime>>;  // (place)

  public:
    explicit GridNews(CallLink& call) : call_(call) {}

    /// Attends to the watches until nothing is left in the stream.
    void attend(Watches& watches, typename Runtime::Stream stream) {
        for (bool is_done = false; !is_done;) {
            require_done<Runtime>(Runtime::is_done(stream, is_done), "a kernel");
            if (!is_done) Runtime::pause();
            if (call_.has_poll()) call_.poll();
            GridCounts now;
            for (GridWatch<Runtime>& watch : watches) {
                if (call_.is_cancelled()) watch.cancel();
                add(now, watch.counts());
            }
            if (call_.is_watched()) tell(now);
        }
    }
    static void add(GridCounts& sum, const GridCounts& part) {
        sum.lanes_done += part.lanes_done;
        sum.accepted += part.accepted;
        sum.rejected += part.rejected;
    }
    void tell(const GridCounts& now) {
        call_.ended(now.lanes_done - told_.lanes_done, now.accepted - told_.accepted,
                    now.rejected - told_.rejected);
        told_ = now;
    }

  private:
    CallLink& call_;
    GridCounts told_;
};

}  // namespace eddy::inline v0::detail
