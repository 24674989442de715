#pragma once
// Work of one call that ranks take from each other: a rank that has done its parts asks others for some of theirs. With the
// parts goes what they need, and what comes of them goes back to their owner, which waits for it. So each rank has at
// the end what it would have computed itself, whoever did it. What parts are, only RankWork knows.
// Test: tests/solve/work_share.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What a rank has to do, in parts that may be done anywhere, in any order.
class EDDY_EXPORT RankWork {
  public:
    using Message = RankWire::Message;

    RankWork() = default;
    RankWork(const RankWork&) = delete;
    RankWork& operator=(const RankWork&) = delete;
    virtual ~RankWork();

    /// Work of the same kind of other ranks can be done here, and here alone.
    [[nodiscard]] virtual std::uint64_t kind() const = 0;
    virtual void run(const PartRange& parts) = 0;
    /// What another rank needs for these parts.
    [[nodiscard]] virtual Message packed(const PartRange& parts) = 0;
    /// Does parts of another rank; returns what has come of them.
    [[nodiscard]] virtual Message run_packed(const Message& parts) = 0;
    /// Takes what has come of these parts elsewhere.
    virtual void take_back(const PartRange& parts, const Message& result) = 0;
    /// Makes `run` leave parts undone from now on: another rank has stopped.
    virtual void stop() noexcept = 0;
};

/// Whom a rank asks: all others where they are few, else as many as make any other known in a few steps.
[[nodiscard]] EDDY_EXPORT std::vector<int> others_to_ask(int rank, int num_ranks);

/// Runs `num_parts` parts here or elsewhere, `at_a_time` or more between two looks for messages, and those of others
/// that have some left; returns when all of this rank's are done. Between agree() and add_up() of a group.
EDDY_EXPORT void share_work(RankGroup& group, RankWork& work, std::int64_t num_parts,
                            std::int64_t at_a_time);

}  // namespace eddy::inline v0::detail
