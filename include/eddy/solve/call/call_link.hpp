#pragma once
// What ties the work on a group to its caller.

#include <eddy/solve/call/progress.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <stop_token>

namespace eddy::detail {

struct CallLink {
    std::stop_token cancelled;
    Progress* progress = nullptr;

    [[nodiscard]] bool is_cancelled() const { return cancelled.stop_requested(); }
    /// A lane that was cancelled is not done, but its steps were made.
    void ended(const LaneOutcome& outcome) const {
        if (progress)
            progress->add(outcome.result == Result::cancelled ? 0 : 1, outcome.accepted,
                          outcome.rejected);
    }
};

}  // namespace eddy::detail
