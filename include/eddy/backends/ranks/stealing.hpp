#pragma once
// A backend of the host whose launches ranks share: a rank that has solved its lanes takes some of another's, with the rows
// that they are given, and sends back what becomes of them. The owner then has what it would have computed itself, so that
// all that follows (sums over lanes, a second solve of some) is as without.
// Test: tests/backends/stealing.cpp, tests/mpi/ranks.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/lane_pieces.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/work_share.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// What another rank must know of some lanes of a kernel besides what they are given.
struct PieceHeader {
    std::int64_t num_lanes, unit, group_size;
    std::uint64_t first_path;
    bool has_addends, has_sums, wants_states;
};

/// The lanes of one launch as work of ranks. A part is as many as may be told apart where they are added up, and fill the
/// places of a thread.
template <class Inner, class Kernel>
class StolenLaunch final : public RankWork {
    using Spec = typename Kernel::Spec;

  public:
    StolenLaunch(const Inner& inner, const LaunchPlan& plan, const Kernel& kernel, CallLink& call,
                 typename Inner::Kept& kept)
        : inner_(inner), plan_(plan), kernel_(kernel), call_(call), kept_(kept) {
        using Team = typename Inner::template Team<Spec>;
        constexpr std::ptrdiff_t places =
            std::ptrdiff_t{Spec::num_places} * Team::num_chains * Team::num_members;
        unit_ = std::min(plan.group_size, places);
        if constexpr (is_gradient<Kernel>) {
            if (kernel.shared.sums) unit_ = Spec::sums_by_lane ? lanes_per_block : plan.group_size;
        }
    }

    [[nodiscard]] std::int64_t num_parts() const { return (plan_.num_lanes + unit_ - 1) / unit_; }

    [[nodiscard]] std::uint64_t kind() const override { return print_of_types<Kernel>(); }
    void stop() noexcept override { call_.stop(); }

    void run(const PartRange& parts) override {
        const LaneRange lanes = lanes_of(parts);
        LanesInPlace way;
        LanePiece piece(way, lanes, plan_.num_lanes);
        Kernel kernel = mirrored(kernel_, plan_, piece);
        kernel.problem.rows = kernel_.problem.rows.from(lanes.first);
        std::vector<std::pair<std::ptrdiff_t, std::vector<double>>> states;
        {
            const LostHere lost(call_, call_.wants_states());
            launch(kernel, lanes.count, unit_, plan_.group_size);
            lost.for_each(lanes.count, [&](std::ptrdiff_t lane, std::vector<double> y) {
                states.emplace_back(lanes.first + lane, std::move(y));
            });
        }
        for (auto& [lane, y] : states) call_.keep_state(lane, std::move(y));
    }

    [[nodiscard]] Message packed(const PartRange& parts) override {
        const LaneRange lanes = lanes_of(parts);
        PieceHeader header{lanes.count, unit_, plan_.group_size,    0,
                           false,       false, call_.wants_states()};
        if constexpr (Spec::has_noise)
            header.first_path =
                kernel_.problem.noise.first_path + static_cast<std::uint64_t>(lanes.first);
        if constexpr (is_gradient<Kernel>) {
            header.has_addends = kernel_.shared.addends != nullptr;
            header.has_sums = kernel_.shared.sums != nullptr;
        }
        PieceWriter to;
        to.put(&header, 1);
        LanesSent way{to, kernel_.problem.rows, lanes};
        LanePiece piece(way, lanes, plan_.num_lanes);
        static_cast<void>(mirrored(kernel_, plan_, piece));
        return to.take();
    }

    [[nodiscard]] Message run_packed(const Message& parts) override {
        PieceReader from(parts);
        const auto header = from.read<PieceHeader>();
        LanesReceived way(from);
        LanePiece piece(way, {0, header.num_lanes}, header.num_lanes);
        Kernel kernel = kernel_;
        Places places(kernel, header);
        kernel = mirrored(kernel, LaunchPlan{header.num_lanes, header.group_size, 1}, piece);
        if constexpr (Spec::has_noise) kernel.problem.noise.first_path = header.first_path;
        const LostHere lost(call_, header.wants_states);
        const bool were_counted = call_.count_lanes(false);  // the owner does
        launch(kernel, header.num_lanes, header.unit, header.group_size);
        call_.count_lanes(were_counted);
        PieceWriter to;
        way.put_results(to);
        lost.for_each(header.num_lanes, [&](std::ptrdiff_t lane, const std::vector<double>& y) {
            const PieceShape shape{lane + 1, std::ssize(y)};
            to.put(&shape, 1);
            to.put(y.data(), std::ssize(y));
        });
        const PieceShape end;
        to.put(&end, 1);
        return to.take();
    }

    void take_back(const PartRange& parts, const Message& result) override {
        const LaneRange lanes = lanes_of(parts);
        PieceReader from(result);
        LanesBrought way{from};
        LanePiece piece(way, lanes, plan_.num_lanes);
        static_cast<void>(mirrored(kernel_, plan_, piece));
        for (std::ptrdiff_t lane = lanes.first; lane < lanes.first + lanes.count; ++lane)
            call_.ended(kernel_.outcomes[lane]);
        for (PieceShape of_state; (of_state = from.read<PieceShape>()).num_rows > 0;) {
            const double* const y = from.next<double>(of_state.num_columns);
            call_.keep_state(lanes.first + of_state.num_rows - 1, {y, y + of_state.num_columns});
        }
    }

  private:
    /// Keeps the states that lanes of a piece lose, which are counted from its first one, while it lives.
    class LostHere {
      public:
        LostHere(CallLink& call, bool are_wanted)
            : call_(call), of_call_(call.keep_states_in(are_wanted ? &lost_ : nullptr)) {}
        LostHere(const LostHere&) = delete;
        LostHere& operator=(const LostHere&) = delete;
        ~LostHere() { call_.keep_states_in(of_call_); }

        template <class Take>
        void for_each(std::ptrdiff_t num_lanes, const Take& take) const {
            for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
                std::vector<double> y = lost_.of(lane);
                if (!y.empty()) take(lane, std::move(y));
            }
        }

      private:
        CallLink& call_;
        LostStates lost_;
        LostStates* of_call_;
    };
    /// Makes a kernel of this rank name the places that the owner's has, so that mirrored() follows both alike.
    struct Places {
        typename Spec::Lane sum{};
        LaneEvents events{};

        Places(Kernel& kernel, [[maybe_unused]] const PieceHeader& header) {
            if (Spec::has_event) kernel.events = &events;
            if constexpr (is_gradient<Kernel>) {
                kernel.shared.addends = header.has_addends ? &sum : nullptr;
                kernel.shared.sums = header.has_sums ? &sum : nullptr;
            }
        }
    };

    [[nodiscard]] LaneRange lanes_of(const PartRange& parts) const {
        const std::ptrdiff_t first = parts.first * unit_, end = first + parts.count * unit_;
        return {first, std::min(end, plan_.num_lanes) - first};
    }
    /// In groups of whole units, one for each worker at least.
    void launch(Kernel& kernel, std::ptrdiff_t num_lanes, std::ptrdiff_t unit,
                std::ptrdiff_t most_of_group) {
        const std::ptrdiff_t share = unit * plan_.num_workers;
        const std::ptrdiff_t group_size =
            std::min(most_of_group, (num_lanes + share - 1) / share * unit);
        if constexpr (is_gradient<Kernel>)
            kernel.plan.num_lanes = static_cast<std::int32_t>(group_size);
        else
            kernel.group_size = static_cast<std::int32_t>(group_size);
        LaunchPlan plan{num_lanes, group_size, 1};
        plan.num_workers = std::min(plan_.num_workers, plan.num_groups());
        inner_.launch(plan, kernel, call_, kept_);
        if (call_.is_cancelled()) call_.sharing_ranks()->stop();
        call_.rethrow();
    }

    const Inner& inner_;
    const LaunchPlan& plan_;
    const Kernel& kernel_;
    CallLink& call_;
    typename Inner::Kept& kept_;
    std::ptrdiff_t unit_;  // lanes of a part
};

template <class Inner>
concept LaunchesOnHost = requires {
    typename Inner::Memory;
    typename Inner::Kept;
    requires is_of_host<typename Inner::Memory>;
};

/// `Inner`, with launches that ranks share where `steals`.
template <class Inner>
struct Stealing : Inner {
    bool steals = false;

    /// A rank may have many groups of others, and none of its own.
    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return Inner::num_workers(steals ? std::numeric_limits<std::ptrdiff_t>::max() : num_groups);
    }
    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, CallLink& call,
                typename Inner::Kept& kept) const {
        RankGroup* const ranks = steals ? call.sharing_ranks() : nullptr;
        if (!ranks) {
            LaunchPlan alone = plan;
            alone.num_workers = std::clamp<std::ptrdiff_t>(plan.num_groups(), 1, plan.num_workers);
            return Inner::launch(alone, kernel, call, kept);
        }
        StolenLaunch<Inner, Kernel> work(*this, plan, kernel, call, kept);
        share_work(*ranks, work, work.num_parts(), plan.num_workers);
    }
};

}  // namespace eddy::inline v0::detail
