#include <eddy/solve/ranks/local_ranks.hpp>
#include <exception>
#include <thread>
#include <tuple>

namespace eddy::inline v0::detail {

void LocalWire::send(int to, Message message) {
    RankBoxes::Box& box = boxes_->boxes[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.one);
    box.messages.emplace_back(rank_, std::move(message));
}

bool LocalWire::receive(int& from, Message& message) {
    RankBoxes::Box& box = boxes_->boxes[static_cast<std::size_t>(rank_)];
    const std::lock_guard lock(box.one);
    if (box.messages.empty()) return false;
    std::tie(from, message) = std::move(box.messages.front());
    box.messages.pop_front();
    return true;
}

void run_local_ranks(int count,
                     const std::function<void(const std::shared_ptr<RankGroup>&)>& work) {
    const auto boxes = std::make_shared<RankBoxes>(count);
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < count; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    work(std::make_shared<RankGroup>(std::make_unique<LocalWire>(boxes, rank)));
                } catch (...) {
                    thrown[static_cast<std::size_t>(rank)] = std::current_exception();
                }
            });
    }
    std::exception_ptr first;
    for (const std::exception_ptr& error : thrown) {
        if (!error) continue;
        if (!first) first = error;
        try {
            std::rethrow_exception(error);
        } catch (const RankError&) {  // told by another
        } catch (...) {
            throw;
        }
    }
    if (first) std::rethrow_exception(first);
}

void work_together(RankGroup& group, const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        group.leave();
        throw;
    }
    RankLink(group.shared_from_this()).in_call("end of the work", [&] {
        static_cast<void>(group.agree({}, 0));
    });
}

}  // namespace eddy::inline v0::detail
