// Calls that work on the caller's threads: a pool that is there anyway, threads started for a call,
// the calling thread alone. Whoever works, the bits are the same.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <filesystem>
#include <functional>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace std::chrono_literals;
using support::Array;
using Work = std::function<void(std::ptrdiff_t)>;

/// A pool as programs have them: takes tasks, waits for none.
class Pool {
  public:
    explicit Pool(int num_threads) {
        for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { serve(); });
    }
    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            is_closing_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void submit(std::function<void()> task) {
        {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
        }
        wake_.notify_one();
    }

  private:
    void serve() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [this] { return is_closing_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    bool is_closing_ = false;
    std::vector<std::thread> threads_;
};

/// Hands workers to a pool and returns at once.
struct OnPool {
    Pool* pool;
    void operator()(std::ptrdiff_t num_workers, const Work& work) const {
        for (std::ptrdiff_t worker = 0; worker < num_workers; ++worker)
            pool->submit([work, worker] { work(worker); });
    }
};
/// Starts threads and waits for them, as a parallel region does.
struct OnNewThreads {
    void operator()(std::ptrdiff_t num_workers, const Work& work) const {
        std::vector<std::thread> threads;
        for (std::ptrdiff_t worker = 1; worker < num_workers; ++worker)
            threads.emplace_back(work, worker);
        work(0);
        for (std::thread& thread : threads) thread.join();
    }
};
/// All one after another, here.
struct InTurn {
    void operator()(std::ptrdiff_t num_workers, const Work& work) const {
        for (std::ptrdiff_t worker = 0; worker < num_workers; ++worker) work(worker);
    }
};
struct NotAtAll {
    void operator()(std::ptrdiff_t, const Work&) const {}
};
/// Runs each worker twice, on two threads at the same time.
struct Twice {
    void operator()(std::ptrdiff_t num_workers, const Work& work) const {
        std::thread other([&] { InTurn{}(num_workers, work); });
        InTurn{}(num_workers, work);
        other.join();
    }
};

static_assert(eddy::RunsWorkers<OnPool> && eddy::RunsWorkers<OnNewThreads>);
static_assert(!eddy::RunsWorkers<int>);

constexpr eddy::Cpu two_threads{.threads = 2};
static_assert(two_threads.threads == 2 && !two_threads.executor);

constexpr std::ptrdiff_t num_lanes = 300;
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-8};

Array some_y0() {
    Array y0(num_lanes, 2, 0.5);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 0) = 0.1 * double(lane % 17);
    return y0;
}
const Array data(1, 2, 0.25), p(num_lanes, 2, 1.5);
const std::vector<double> shared_values{1.5, 1.2};

auto differentiate(const eddy::Cpu& cpu) {
    return eddy::value_and_gradient(support::Forced{}, eddy::Bosh3{}, support::HalfSquares{}, data,
                                    some_y0(), eddy::shared(shared_values), options, cpu);
}
auto solve(const eddy::Cpu& cpu) {
    return eddy::solve(support::Forced{}, eddy::Bosh3{}, some_y0(), p, options, cpu);
}
std::ptrdiff_t num_threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
}

struct Everything {
    eddy::Executor executor;
    const char* name;
};

}  // namespace

TEST_CASE("executor: whoever works, the bits are the same") {
    Pool pool(3);
    const auto alone = solve({.threads = 1});
    const auto gradient_alone = differentiate({.threads = 1});
    for (const Everything& each :
         {Everything{OnPool{&pool}, "pool"}, Everything{OnNewThreads{}, "new threads"},
          Everything{InTurn{}, "in turn"}, Everything{NotAtAll{}, "not at all"},
          Everything{Twice{}, "twice"}}) {
        CAPTURE(each.name);
        for (int call = 0; call < (support::sanitized ? 3 : 10); ++call) {
            const eddy::Cpu cpu{.threads = 4, .executor = each.executor};
            CHECK(support::same_array(solve(cpu).y(), alone.y()));
            const auto result = differentiate(cpu);
            CHECK(support::same_bits(result.loss.total, gradient_alone.loss.total));
            CHECK(support::same_array(result.gradient.y0, gradient_alone.gradient.y0));
            CHECK(support::same_array(result.gradient.p, gradient_alone.gradient.p));
        }
    }
}

TEST_CASE("executor: a copy runs on the same threads, and outlives what it was copied from") {
    int calls = 0;
    eddy::Cpu copy = two_threads;
    {
        const eddy::Cpu first{.threads = 3,
                              .executor = [&](std::ptrdiff_t, const Work&) { ++calls; }};
        copy = first;
    }
    const eddy::Cpu moved = std::move(copy);

    CHECK(moved.executor);
    CHECK(support::same_array(solve(moved).y(), solve({.threads = 1}).y()));
    CHECK(calls == 1);
    CHECK_FALSE(eddy::Cpu(two_threads).executor);
}

TEST_CASE("executor: no thread is started besides, however long a call takes") {
    Pool pool(2);
    auto solver =
        eddy::ensemble_solver(support::Forced{}, eddy::Bosh3{},
                              {.t1 = support::sanitized ? 20. : 100., .rtol = 1e-7, .atol = 1e-9},
                              eddy::Cpu{.threads = 3, .executor = OnPool{&pool}});
    const std::ptrdiff_t before = num_threads();

    CHECK(solver(some_y0(), p).num_lanes() == num_lanes);

    CHECK(num_threads() == before);
}

TEST_CASE("executor: every group is done once, and no worker has two at a time") {
    Pool pool(4);
    for (const int num_workers : {2, 3, 9}) {
        for (const std::ptrdiff_t num_groups : {0, 1, 2, 100}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(num_groups)), busy(9);
            std::atomic<bool> clash{false};
            const auto work = [&](std::ptrdiff_t worker, std::ptrdiff_t group) {
                auto& own = busy.at(static_cast<std::size_t>(worker));
                if (worker >= num_workers || own.fetch_add(1) != 0) clash = true;
                std::this_thread::sleep_for(50us);
                ++visits.at(static_cast<std::size_t>(group));
                own.fetch_sub(1);
            };

            eddy::Executor(OnPool{&pool})
                .for_each_group(num_groups, num_workers, eddy::detail::GroupCall(work));

            bool once = true;
            for (const auto& count : visits) once = once && count == 1;
            CHECK(once);
            CHECK_FALSE(clash);
        }
    }
}

TEST_CASE("executor: the first exception ends the call once all workers have stopped") {
    Pool pool(3);
    std::atomic<int> running{0}, begun{0};
    const auto work = [&](std::ptrdiff_t, std::ptrdiff_t group) {
        ++begun;
        ++running;
        std::this_thread::sleep_for(100us);
        --running;
        if (group == 5) throw std::runtime_error("group 5");
    };
    const auto call = [&](const eddy::Executor& executor) {
        executor.for_each_group(1000, 3, eddy::detail::GroupCall(work));
    };
    for (const eddy::Executor& executor :
         {eddy::Executor(OnPool{&pool}), eddy::Executor(OnNewThreads{})}) {
        begun = 0;
        CHECK(support::message_of([&] { call(executor); }) == "group 5");
        CHECK(running == 0);
        CHECK(begun < 1000);
    }
}

TEST_CASE("executor: one that throws ends the call once those that have begun have stopped") {
    Pool pool(3);
    std::atomic<int> running{0}, begun{0};
    const auto work = [&](std::ptrdiff_t, std::ptrdiff_t) {
        ++begun;
        ++running;
        std::this_thread::sleep_for(100us);
        --running;
    };
    const auto is_full = [&](std::ptrdiff_t, const Work& taken) {
        pool.submit([taken] { taken(0); });
        std::this_thread::sleep_for(1ms);
        throw std::runtime_error("the pool is full");
    };

    CHECK(support::message_of([&] {
              eddy::Executor(is_full).for_each_group(100'000, 3, eddy::detail::GroupCall(work));
          }) == "the pool is full");

    CHECK(running == 0);
    CHECK(begun < 100'000);
}

TEST_CASE("executor: the calling thread is asked, working or waiting") {
    Pool pool(2);
    const auto here = std::this_thread::get_id();
    int asked = 0;
    bool elsewhere = false;
    const auto poll = [&] {
        elsewhere = elsewhere || std::this_thread::get_id() != here;
        return ++asked < 3;
    };
    // Without an end: only `poll` ends it. The pool has all workers, or none.
    for (const int workers_of_pool : {2, 0}) {
        const auto executor = [&](std::ptrdiff_t, const Work& work) {
            for (int worker = 0; worker < workers_of_pool; ++worker)
                pool.submit([work, worker] { work(worker); });
        };
        asked = 0;
        auto solver = eddy::ensemble_solver(
            support::Forced{}, eddy::Bosh3{},
            {.t1 = 1e9, .dt_max = 1e-3, .max_steps = 1'000'000'000'000, .poll = poll},
            eddy::Cpu{.threads = 2, .executor = executor});

        CHECK(solver(some_y0(), p).result(0) == eddy::Result::cancelled);

        CHECK(asked == 3);
        CHECK_FALSE(elsewhere);
    }
}
