#pragma once
// Ranks that are threads of one process: messages between them, and who runs them. Each GPU of a machine has one
// (backends/nccl.hpp).
// Test: tests/solve/ranks.cpp

#include <deque>
#include <eddy/core/export.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// The letter boxes of all ranks.
struct RankBoxes {
    struct Box {
        std::mutex one;
        std::deque<std::pair<int, RankWire::Message>> messages;
    };
    explicit RankBoxes(int count) : boxes(static_cast<std::size_t>(count)) {}
    std::vector<Box> boxes;
};

class EDDY_EXPORT LocalWire final : public RankWire {
  public:
    LocalWire(std::shared_ptr<RankBoxes> boxes, int rank) : boxes_(std::move(boxes)), rank_(rank) {}

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int num_ranks() const override { return static_cast<int>(boxes_->boxes.size()); }
    void send(int to, Message message) override;
    [[nodiscard]] bool receive(int& from, Message& message) override;

  private:
    std::shared_ptr<RankBoxes> boxes_;
    int rank_;
};

/// Calls work(group) of each rank in a thread of its own, and waits for all. What a rank throws is thrown then: of
/// several the one that has ended the others.
EDDY_EXPORT void run_local_ranks(
    int count, const std::function<void(const std::shared_ptr<RankGroup>&)>& work);
/// Calls work() and waits until all ranks have. What it throws between two calls of the ranks ends the next call of the
/// others.
EDDY_EXPORT void work_together(RankGroup& group, const std::function<void()>& work);

}  // namespace eddy::inline v0::detail
