#include <eddy/backends/cpu/thread_work.hpp>
#include <utility>

namespace eddy::inline v0::detail {

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
