#pragma once
// Executors that judge schedules. `ScheduleChecker` holds a list of actions to the invariants of
// checkpoint/action.hpp, one action at a time, and says which action broke which. It moves no data:
// a state is its step.

#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <set>
#include <string>
#include <vector>

namespace support {

class ScheduleChecker {
  public:
    /// `limits`: slots by tier. `output_first`: no step may be reversed before all of them were
    /// advanced.
    ScheduleChecker(std::int64_t length, std::vector<std::int64_t> limits, bool output_first = true)
        : length_(length),
          adjoint_(length),
          limits_(std::move(limits)),
          stored_(limits_.size()),
          must_reach_end_(output_first) {}

    void forward(std::int64_t first, std::int64_t last) {
        require(first == model_, "forward starts where the model is");
        require(first < last, "forward advances");
        require(last <= adjoint_, "forward never passes the adjoint");
        model_ = last;
        if (last == length_) reached_end_ = true;
        forward_steps += last - first;
    }
    void write(std::int64_t step, int tier) {
        if (!require(is_tier(tier), "the tier exists")) return;
        require(step == model_, "the state that is written is the model's");
        require(stored(tier).insert(step).second, "no checkpoint is written twice");
        require(static_cast<std::int64_t>(stored(tier).size()) <=
                    limits_[static_cast<std::size_t>(tier)],
                "the tier's limit holds");
    }
    void read(std::int64_t step, int tier) {
        if (!require(is_tier(tier), "the tier exists")) return;
        require(stored(tier).contains(step), "a checkpoint exists when it is read");
        require(step < adjoint_, "a checkpoint is read before its step is reversed");
        model_ = step;
    }
    void discard(std::int64_t step, int tier) {
        if (!require(is_tier(tier), "the tier exists")) return;
        require(stored(tier).erase(step) == 1, "a checkpoint exists when it is discarded");
    }
    void reverse(std::int64_t step) {
        require(reached_end_ || !must_reach_end_, "the output exists before the adjoint starts");
        require(step + 1 == adjoint_, "steps are reversed from the last to the first, each once");
        require(step == model_, "the input of the reversed step is present");
        adjoint_ = step;
    }

    /// Replays `actions`; true when every invariant held and nothing is left undone.
    bool accepts(std::span<const eddy::Action> actions) {
        for (const eddy::Action& action : actions) {
            current_ = eddy::to_string(action);
            eddy::replay(std::span(&action, 1), *this);
        }
        current_ = "the end";
        require(adjoint_ == 0, "every step is reversed");
        for (const auto& checkpoints : stored_)
            require(checkpoints.empty(), "storage is empty at the end");
        return violation.empty();
    }

    std::int64_t forward_steps = 0;
    std::string violation;  ///< the first one, empty when there is none

  private:
    bool is_tier(int tier) const {
        return tier >= 0 && static_cast<std::size_t>(tier) < stored_.size();
    }
    std::set<std::int64_t>& stored(int tier) { return stored_[static_cast<std::size_t>(tier)]; }
    bool require(bool holds, const char* claim) {
        if (!holds && violation.empty()) violation = "not so at '" + current_ + "': " + claim;
        return holds;
    }

    std::int64_t length_, model_ = 0, adjoint_;
    std::vector<std::int64_t> limits_;
    std::vector<std::set<std::int64_t>> stored_;
    bool must_reach_end_, reached_end_ = false;
    std::string current_;
};

}  // namespace support
