#pragma once
// The states at which losses were not finite: a caller who knows them sees why.
// Test: tests/solve/loss_outcomes.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The states of the first lanes whose loss was lost, in the order of the lanes.
class EDDY_EXPORT LostStates {
  public:
    static constexpr std::size_t most = 64;

    void add(std::ptrdiff_t lane, std::vector<double> y);
    /// Empty where none is known.
    [[nodiscard]] std::vector<double> of(std::ptrdiff_t lane) const;
    void clear() { kept_.clear(); }

  private:
    struct Kept {
        std::ptrdiff_t lane;
        std::vector<double> y;
    };
    std::vector<Kept> kept_;
};

/// Tells the call of those among `count` lanes from `first` on, which the recorder counts from 0 on. Calls on
/// devices do not want them.
template <class Call, class Recorder>
void tell_lost_states(Call& call, const Recorder& recorder, const LaneOutcome* outcomes,
                      std::ptrdiff_t first, std::int32_t count) {
    if constexpr (Recorder::not_finite == Result::loss_not_finite) {
        if (!call.wants_states()) return;
        for (std::int32_t lane = 0; lane < count; ++lane) {
            if (outcomes[lane].result != Result::loss_not_finite) continue;
            const auto& saved = recorder.saved(lane, outcomes[lane].component);
            std::vector<double> y;
            for (int i = 0; i < saved.size(); ++i)
                y.push_back(static_cast<double>(primal(saved[i])));
            call.keep_state(first + lane, std::move(y));
        }
    }
}

}  // namespace eddy::inline v0::detail
