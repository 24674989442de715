#include <eddy/backends/cpu/thread_work.hpp>
#include <utility>

namespace eddy::inline v0::detail {

void GroupStores::restart() {
    if (!sequence_)
        sequence_.emplace(plan_placement({.checkpoints = checkpoints_}, "value_and_gradient"));
    sequence_->restart();
}
std::span<const Placed> GroupStores::next_piece() {
    try {
        return sequence_->next_piece();
    } catch (const std::bad_alloc&) {
        return {};
    }
}
std::int64_t GroupStores::split(std::int64_t length, std::int64_t free_slots) const {
    return sequence_->split(length, free_slots);
}

ThreadWorkers::ThreadWorkers() noexcept = default;
ThreadWorkers::ThreadWorkers(const ThreadWorkers&) noexcept {}
ThreadWorkers::ThreadWorkers(ThreadWorkers&&) noexcept = default;
ThreadWorkers& ThreadWorkers::operator=(ThreadWorkers other) noexcept {
    workers_ = std::move(other.workers_);
    return *this;
}
ThreadWorkers::~ThreadWorkers() = default;

ThreadWorker* ThreadWorkers::at_least(std::ptrdiff_t count) {
    if (static_cast<std::ptrdiff_t>(workers_.size()) < count)
        workers_.resize(static_cast<std::size_t>(count));
    return workers_.data();
}

StoresOfThreads ThreadWorkers::stores(const GradientPlan& plan, std::ptrdiff_t count) {
    ThreadWorker* const first = at_least(count);
    for (std::ptrdiff_t worker = 0; worker < count; ++worker)
        first[worker].stores.plan(plan.checkpoints);
    return {first};
}

}  // namespace eddy::inline v0::detail
