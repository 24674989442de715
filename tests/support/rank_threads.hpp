#pragma once
// Threads that stand for the processes of a cluster: messages between them, and a backend whose ranks they are.

#include <eddy/solve/ranks/rank_group.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace support {

/// The letter boxes of all ranks.
struct RankBoxes {
    using Message = eddy::detail::RankWire::Message;
    struct Box {
        std::mutex one;
        std::vector<std::pair<int, Message>> messages;
        std::size_t taken = 0;
    };
    explicit RankBoxes(int count) : boxes(static_cast<std::size_t>(count)) {}
    std::vector<Box> boxes;
};

class ThreadWire : public eddy::detail::RankWire {
  public:
    ThreadWire(std::shared_ptr<RankBoxes> boxes, int rank)
        : boxes_(std::move(boxes)), rank_(rank) {}

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int num_ranks() const override { return static_cast<int>(boxes_->boxes.size()); }
    void send(int to, Message message) override {
        auto& box = boxes_->boxes[static_cast<std::size_t>(to)];
        const std::lock_guard lock(box.one);
        box.messages.emplace_back(rank_, std::move(message));
    }
    [[nodiscard]] bool receive(int& from, Message& message) override {
        auto& box = boxes_->boxes[static_cast<std::size_t>(rank_)];
        const std::lock_guard lock(box.one);
        if (box.taken == box.messages.size()) return false;
        std::tie(from, message) = std::move(box.messages[box.taken++]);
        return true;
    }

  private:
    std::shared_ptr<RankBoxes> boxes_;
    int rank_;
};

/// As eddy::Mpi, for threads.
template <class Inner>
struct ThreadRanks {
    struct backend_tag {};
    Inner inner;
    std::shared_ptr<eddy::detail::RankGroup> group;

    [[nodiscard]] eddy::detail::RankLink ranks() const { return eddy::detail::RankLink(group); }
};

/// Calls work(group) of each rank in a thread of its own, and waits for all.
inline void run_ranks(
    int count, const std::function<void(const std::shared_ptr<eddy::detail::RankGroup>&)>& work) {
    const auto boxes = std::make_shared<RankBoxes>(count);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            work(std::make_shared<eddy::detail::RankGroup>(
                std::make_unique<ThreadWire>(boxes, rank)));
        });
}

}  // namespace support
