#pragma once
// A loop of known length that follows an action list: the way to run schedules that no placement
// describes, such as H-Revolve's over several tiers or a chain's. The list is checked whole before
// anything runs: what is legal gives the same gradient as every other schedule, bit for bit.
// Test: tests/checkpoint/scheduled_loop.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/action_plan.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/presence.hpp>
#include <eddy/checkpoint/store.hpp>
#include <eddy/core/error.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace eddy::inline v0 {

/// Runs and reverses a loop by an action list, with one store for each tier.
template <class State, class Body, class... Stores>
class ScheduledLoop {
    static_assert(
        !detail::AdvanceIsNotConst<Body, State>,
        "ScheduledLoop: the body's advance must be const, because it is called again for the "
        "same step: mark it const; work vectors may be mutable members");
    static_assert(
        LoopBody<Body, State> || detail::AdvanceIsNotConst<Body, State>,
        "ScheduledLoop: the body must offer advance(const State&, int64_t) const -> State and "
        "pullback(const State&, int64_t, const State& cotangent) -> State");
    static_assert(
        (CheckpointStore<Stores, State> && ...),
        "ScheduledLoop: every store must satisfy CheckpointStore<Store, State>, see store.hpp");

  public:
    /// Throws `InvalidArgument` if the list is no schedule of a loop, or uses a tier without a
    /// store.
    ScheduledLoop(Body body, std::span<const Action> actions, Stores... stores)
        : body_(std::move(body)),
          plan_(plan_actions(actions, static_cast<int>(sizeof...(Stores)))),
          stores_(std::move(stores)...) {}

    /// Advances all steps from x_0, and returns the last state. That state is valid until `reverse`
    /// or the next run. If body or store throw, all slots are freed and the loop may run again.
    const State& run(const State& x0) {
        const auto call = presence_.enter("ScheduledLoop::run");
        State start = x0;
        counters_ = {};
        held_ = 0;
        reversible_ = reversing_ = false;
        ReleaseUnlessDone guard(stores_);
        reserve(std::index_sequence_for<Stores...>());
        x_ = std::move(start);
        here_ = &*x_;
        for (std::size_t i = 0; i < plan_.forward_actions; ++i) carry_out(plan_.actions[i]);
        reversible_ = guard.done = true;
        return *x_;
    }

    /// The backward pass: takes the cotangent of the last state and returns that of x_0, once for
    /// each run. If body or store throw, all slots are freed and the loop may run again.
    [[nodiscard]] State reverse(State cotangent) {
        const auto call = presence_.enter("ScheduledLoop::reverse");
        require_argument(
            reversible_,
            "ScheduledLoop::reverse: there is no finished run to reverse; call run first");
        reversible_ = false;
        here_ = &*x_;  // the loop may have been moved since it ran
        ReleaseUnlessDone guard(stores_);
        cotangent_ = std::move(cotangent);
        reversing_ = true;
        for (std::size_t i = plan_.forward_actions; i < plan_.actions.size(); ++i)
            carry_out(plan_.actions[i]);
        reversing_ = false;
        guard.done = true;
        State result = std::move(*cotangent_);
        cotangent_.reset();
        return result;
    }

    /// The cost of the last run and of its backward pass.
    [[nodiscard]] const LoopCounters& counters() const { return counters_; }
    /// The schedule after all checks.
    [[nodiscard]] const ActionPlan& plan() const { return plan_; }
    /// The body, with all that its pullback has accumulated.
    [[nodiscard]] Body& body() { return body_; }
    template <std::size_t tier>
    /// The store of a tier.
    [[nodiscard]] auto& store() {
        return std::get<tier>(stores_);
    }

  private:
    struct ReleaseUnlessDone {
        std::tuple<Stores...>& stores;
        bool done = false;
        explicit ReleaseUnlessDone(std::tuple<Stores...>& owned) : stores(owned) {}
        ReleaseUnlessDone(const ReleaseUnlessDone&) = delete;
        ReleaseUnlessDone& operator=(const ReleaseUnlessDone&) = delete;
        ~ReleaseUnlessDone() {
            if (!done) std::apply([](auto&... store) { (store.release(), ...); }, stores);
        }
    };

    template <std::size_t... tiers>
    void reserve(std::index_sequence<tiers...>) {
        (std::get<tiers>(stores_).reserve(plan_.slots[tiers]), ...);
    }

    // Calls visit(store) for the store of a tier that is known at run time.
    template <std::size_t tier = 0, class Visit>
    void with_store(int wanted, const Visit& visit) {
        if constexpr (tier < sizeof...(Stores)) {
            if (wanted == static_cast<int>(tier))
                visit(std::get<tier>(stores_));
            else
                with_store<tier + 1>(wanted, visit);
        }
    }

    void carry_out(const PlannedAction& planned) {
        const Action& action = planned.action;
        switch (action.kind) {
            case ActionKind::forward: forward(action.first, action.last); break;
            case ActionKind::write: write(planned); break;
            case ActionKind::read: read(planned); break;
            case ActionKind::discard: discard(planned); break;
            case ActionKind::reverse:
                detail::pull_back(body_, *here_, action.last, *cotangent_);
                ++counters_.pullbacks;
                break;
        }
    }

    void forward(std::int64_t first, std::int64_t last) {
        for (std::int64_t step = first; step < last; ++step) {
            x_ = body_.advance(*here_, step);
            here_ = &*x_;
        }
        counters_.advances += last - first;
        if (reversing_) counters_.recomputed += last - first;
    }

    void write(const PlannedAction& planned) {
        with_store(planned.action.tier,
                   [&](auto& store) { store.write(planned.slot, planned.action.first, *here_); });
        ++counters_.stores;
        counters_.peak_checkpoints = std::max(counters_.peak_checkpoints, ++held_);
    }

    // The state stays where it is until it is advanced.
    void read(const PlannedAction& planned) {
        with_store(planned.action.tier, [&](auto& store) {
            if (planned.next_slot >= 0) store.will_read(planned.next_slot, planned.next_step);
            here_ = &store.read(planned.slot, planned.action.first);
        });
        ++counters_.loads;
    }

    void discard(const PlannedAction& planned) {
        if (planned.needs_state && here_ != &*x_) {
            x_ = State(*here_);
            here_ = &*x_;
        }
        with_store(planned.action.tier, [&](auto& store) { store.discard(planned.slot); });
        --held_;
    }

    Body body_;
    ActionPlan plan_;
    std::tuple<Stores...> stores_;
    std::optional<State> x_, cotangent_;
    const State* here_ = nullptr;  // the working state: x_, or in a store
    LoopCounters counters_;
    std::int64_t held_ = 0;
    bool reversible_ = false;
    bool reversing_ = false;
    detail::Presence presence_;
};

}  // namespace eddy::inline v0
