#pragma once
// How the lanes of a call become groups for the workers of a backend: one driver for solutions and
// gradients. Which worker takes which group depends on chance; no result does.

#include <algorithm>
#include <cstddef>
#include <eddy/solve/call/progress.hpp>
#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <span>
#include <stop_token>
#include <utility>

namespace eddy::detail {

/// A look up from the work, now and then, by the thread that does it: a backend may call in others.
struct LookUp {
    void* threads = nullptr;  // null where there are no others
    void (*call)(void*) = nullptr;
    bool (*has_effect)(const void*) = nullptr;

    template <class Threads>
    [[nodiscard]] static LookUp of(Threads& threads) {
        return {
            &threads, [](void* kept) { static_cast<Threads*>(kept)->look_up(); },
            [](const void* kept) { return static_cast<const Threads*>(kept)->may_call_others(); }};
    }
    void operator()() const {
        if (threads != nullptr) call(threads);
    }
    [[nodiscard]] bool is_wanted() const { return threads != nullptr && has_effect(threads); }
};

/// What ties the work on a group to its caller.
struct CallLink {
    LookUp look_up;
    std::stop_token cancelled;
    Progress* progress = nullptr;
};

/// A thread as a team of its own: `chains` Numbers taken in turn.
template <int chains>
class ThreadTeam {
  public:
    static constexpr int num_chains = chains;
    static constexpr int num_members = 1;

    ThreadTeam(const CallLink& link, std::ptrdiff_t first_lane, std::int32_t num_lanes)
        : link_(&link), first_lane_(first_lane), num_lanes_(num_lanes) {}

    [[nodiscard]] static constexpr int member() { return 0; }
    [[nodiscard, gnu::always_inline]] static bool any(bool flag) { return flag; }
    [[nodiscard]] static std::int64_t max(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t min(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t sum(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t from_first(std::int64_t x) { return x; }
    static void sync() {}

    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_lane_; }
    [[nodiscard]] std::int32_t num_lanes() const { return num_lanes_; }
    [[nodiscard]] std::int32_t num_taken() const { return num_taken_; }
    [[nodiscard]] std::int32_t take_lane(bool wants) {
        return wants && num_taken_ < num_lanes_ ? num_taken_++ : no_lane;
    }
    void ended(const LaneOutcome& outcome) const {
        if (!link_->progress) return;  // a cancelled lane is not done, but its steps were made
        link_->progress->add(outcome.result == Result::cancelled ? 0 : 1, outcome.accepted,
                             outcome.rejected);
    }

    [[nodiscard]] bool is_cancelled() const { return link_->cancelled.stop_requested(); }
    [[nodiscard]] bool attend() const {
        link_->look_up();
        return !is_cancelled();
    }
    /// While other threads may be called in, soon at first, then ever more rarely.
    [[nodiscard]] std::int64_t patience(std::int64_t round) const {
        constexpr std::int64_t most = 256;
        return link_->look_up.is_wanted() ? std::min(most, round + 8) : most;
    }

  private:
    const CallLink* link_;
    std::ptrdiff_t first_lane_;
    std::int32_t num_lanes_, num_taken_ = 0;
};

/// The team that a thread is for numbers of a type. A step of one pack waits for its own results most
/// of the time; its neighbours, taken in turn, fill the gaps.
template <class Spec>
using ThreadTeamFor = ThreadTeam<(Spec::num_places > 1 ? 3 : 1)>;

/// How many lanes form a group where `wanted_groups` would do: enough in each to refill its places
/// many times, not so many that progress and memory suffer.
template <class Spec, class Team>
[[nodiscard]] std::ptrdiff_t lanes_per_group(std::ptrdiff_t num_lanes,
                                             std::ptrdiff_t wanted_groups) {
    constexpr std::ptrdiff_t places = Spec::num_places * Team::num_chains, most_refills = 64;
    const std::ptrdiff_t share = (num_lanes + wanted_groups - 1) / wanted_groups;
    return std::clamp<std::ptrdiff_t>((share + places - 1) / places, 1, most_refills) * places;
}

/// What a backend keeps from call to call: its threads, if it has any.
template <class Backend>
struct KeptBy {
    template <class Work>
    void for_each_group(const Backend& backend, CallLink&, std::ptrdiff_t num_groups, Work&& work) {
        backend.for_each_group(num_groups, work);
    }
};
template <class Backend>
requires requires { typename Backend::Threads; }
struct KeptBy<Backend> {
    typename Backend::Threads threads;

    template <class Work>
    void for_each_group(const Backend& backend, CallLink& link, std::ptrdiff_t num_groups,
                        Work&& work) {
        link.look_up = LookUp::of(threads);
        backend.for_each_group(threads, num_groups, work);
    }
};

/// A call's lanes, divided.
struct GroupShares {
    std::ptrdiff_t num_lanes, group_size;

    [[nodiscard]] std::ptrdiff_t num_groups() const {
        return (num_lanes + group_size - 1) / group_size;
    }
    [[nodiscard]] std::int32_t lanes_of(std::ptrdiff_t group) const {
        return static_cast<std::int32_t>(std::min(group_size, num_lanes - group * group_size));
    }
};

/// Calls work(link, worker, group) for every group, and reports to the caller on the way.
template <class Backend, class Work>
void launch(const GroupShares& shares, const Backend& backend, KeptBy<Backend>& kept,
            bool shows_progress, const std::stop_token& cancelled, const char* title, Work&& work) {
    Progress progress(shows_progress, cancelled, shares.num_lanes, title);
    CallLink link{{}, progress.cancelled(), &progress};
    kept.for_each_group(backend, link, shares.num_groups(),
                        [&](std::ptrdiff_t worker, std::ptrdiff_t group) {
                            work(std::as_const(link), worker, group);
                        });
}

/// Lanes of a cancelled call that never began.
inline void cancel_waiting(std::span<LaneOutcome> outcomes, std::int32_t num_taken, double t0) {
    for (LaneOutcome& outcome : outcomes.subspan(static_cast<std::size_t>(num_taken))) {
        outcome.result = Result::cancelled;
        outcome.t = t0;
    }
}

/// Memory for the arena of a worker's groups, kept from call to call; not written before it is used,
/// so that a generous plan costs address space alone.
class ArenaMemory {
  public:
    ArenaMemory() = default;
    ArenaMemory(ArenaMemory&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)),
          num_bytes_(std::exchange(other.num_bytes_, 0)) {}
    ArenaMemory& operator=(ArenaMemory other) noexcept {
        std::swap(first_, other.first_);
        std::swap(num_bytes_, other.num_bytes_);
        return *this;
    }
    ~ArenaMemory() { release(); }

    /// All of it, at least so many bytes; std::bad_alloc where the machine has no room for them.
    [[nodiscard]] Arena arena(std::size_t bytes) {
        if (bytes > num_bytes_) reserve(bytes);
        return Arena(first_);
    }

  private:
    void reserve(std::size_t bytes);
    void release() noexcept;

    std::byte* first_ = nullptr;
    std::size_t num_bytes_ = 0;
};

}  // namespace eddy::detail
