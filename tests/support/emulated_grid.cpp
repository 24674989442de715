#include "support/emulated_grid.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"

// This file is compiled without sanitizers, which would take its changes from stack to stack for errors; it tells them, where the
// program has them. For the same reason no fiber allocates or copies blocks here: malloc and memcpy are theirs.
extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom,
                                                   std::size_t* size);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
}

namespace eddy::test {
namespace {

using Fiber = EmulatedWarp::Fiber;
constexpr std::size_t stack_size = 256 * 1024;
constexpr std::size_t guard_size = 4096;  // below each stack
constexpr unsigned switch_without_order = 1;

void acquire(char& order) {
    if (__tsan_acquire) __tsan_acquire(&order);
}
void release(char& order) {
    if (__tsan_release) __tsan_release(&order);
}

struct Call {
    const char* what = nullptr;  // null: none yet
    Place where{};

    bool operator==(const Call& other) const {
        return where.line() == other.where.line() && where.column() == other.where.column() &&
               std::strcmp(what, other.what) == 0 &&
               std::strcmp(where.file_name(), other.where.file_name()) == 0;
    }
    std::string text() const {
        if (!what) return "no collective";
        return std::string(what) + " at " + where.file_name() + ":" + std::to_string(where.line()) +
               ":" + std::to_string(where.column());
    }
};

/// Where the members of a warp, or of all warps, wait for one another.
struct Rendezvous {
    std::size_t num_members;
    std::vector<Fiber*> waiting{};    // in the order in which they came
    const Fiber* returned = nullptr;  // a member that will never come again
    unsigned count = 0;               // exchanges so far
    std::array<char, 2> order{};      // by turns: who leaves must not see what others do after it
};

class Grid;

}  // namespace

struct EmulatedWarp::Fiber {
    Grid* grid = nullptr;
    Rendezvous* rendezvous = nullptr;  // of its warp
    int warp = 0, member = 0;
    Call call;  // the last one
    std::uint64_t value = 0;
    Values received{};

    ucontext_t context{};
    const void* stack = nullptr;  // lowest address; null: the host's stack, not known yet
    std::size_t size = 0;
    void* fake_stack = nullptr;  // AddressSanitizer's
    void* as_thread = nullptr;   // ThreadSanitizer's

    bool has_returned = false;

    std::string name() const {
        return "member " + std::to_string(member) + " of warp " + std::to_string(warp);
    }
    std::string state() const {
        return name() + (has_returned ? " has returned, last from " : " is in ") + call.text();
    }
};

namespace {

/// All stacks of a run, with a page between them that nobody may touch.
class Stacks {
  public:
    explicit Stacks(std::size_t count) : size_(count * (guard_size + stack_size)) {
        memory_ =
            mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory_ == MAP_FAILED) throw std::bad_alloc();
        for (std::size_t i = 0; i < count; ++i)
            if (mprotect(at(i), stack_size, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    }
    ~Stacks() {
        // Frames of abandoned fibers are still marked, and what is mapped here next would inherit that.
        if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(memory_, size_);
        munmap(memory_, size_);
    }
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    std::byte* at(std::size_t i) const {
        return static_cast<std::byte*>(memory_) + i * (guard_size + stack_size) + guard_size;
    }

  private:
    std::size_t size_;
    void* memory_;
};

class Grid {
  public:
    using Program = std::function<void(int, EmulatedWarp&)>;

    Grid(int num_warps, std::uint64_t seed, const Program& program);
    ~Grid();
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;

    void run();
    void meet(Fiber& self, Rendezvous& rendezvous, bool orders_memory, const Call& call);
    void yield(Fiber& self) {
        runnable_.push_back(&self);
        change_over();
    }
    Rendezvous& block() { return block_; }

  private:
    static void prepare(Fiber& fiber, void* stack);
    static void enter();
    void leave(Fiber& self);
    void change_over();
    void switch_to(Fiber& next);
    void deliver(Rendezvous& rendezvous);
    void look_for_waiting();
    void fail(const Fiber& first, const Fiber& second);

    const Program& program_;
    support::Random random_;
    Stacks stacks_;
    std::vector<Fiber> fibers_;
    std::vector<Rendezvous> warps_;
    Rendezvous block_;
    Fiber host_;
    Fiber* running_ = &host_;
    std::vector<Fiber*> runnable_;
    std::exception_ptr thrown_;
    // Told by the host: what a fiber that is abandoned holds is lost.
    std::array<const Fiber*, 2> at_odds_{};
    // Both ends of the run order memory; one fiber's end does not order it with another one's start.
    char start_ = 0, end_ = 0;
};

thread_local Fiber* entering = nullptr;  // makecontext passes integers alone

Grid::Grid(int num_warps, std::uint64_t seed, const Program& program)
    : program_(program),
      random_(seed),
      stacks_(static_cast<std::size_t>(num_warps) * EmulatedWarp::num_members),
      fibers_(static_cast<std::size_t>(num_warps) * EmulatedWarp::num_members),
      warps_(static_cast<std::size_t>(num_warps), Rendezvous{EmulatedWarp::num_members}),
      block_{fibers_.size()} {
    block_.waiting.reserve(fibers_.size());
    for (Rendezvous& warp : warps_) warp.waiting.reserve(warp.num_members);
    runnable_.reserve(fibers_.size());
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
        Fiber& fiber = fibers_[i];
        fiber.grid = this;
        fiber.warp = static_cast<int>(i) / EmulatedWarp::num_members;
        fiber.member = static_cast<int>(i) % EmulatedWarp::num_members;
        fiber.rendezvous = &warps_[static_cast<std::size_t>(fiber.warp)];
        prepare(fiber, stacks_.at(i));
        runnable_.push_back(&fiber);
    }
    if (__tsan_get_current_fiber) host_.as_thread = __tsan_get_current_fiber();
}

void Grid::prepare(Fiber& fiber, void* stack) {
    fiber.stack = stack, fiber.size = stack_size;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack, fiber.context.uc_stack.ss_size = stack_size;
    makecontext(&fiber.context, &Grid::enter, 0);
    // Of a stack whose size it sees here AddressSanitizer forgets all that it knows, whenever it is switched to.
    fiber.context.uc_stack.ss_size = 0;
    if (__tsan_create_fiber) fiber.as_thread = __tsan_create_fiber(0);
}

Grid::~Grid() {
    for (Fiber& fiber : fibers_)
        if (__tsan_destroy_fiber) __tsan_destroy_fiber(fiber.as_thread);
}

void Grid::run() {
    release(start_);
    change_over();
    if (__tsan_switch_to_fiber) {  // for each fiber, as it would at its end: the abandoned ones have none
        for (const Fiber& fiber : fibers_) {
            __tsan_switch_to_fiber(fiber.as_thread, switch_without_order);
            release(end_);
        }
        __tsan_switch_to_fiber(host_.as_thread, switch_without_order);
        acquire(end_);
    }
    if (thrown_) std::rethrow_exception(thrown_);
    if (at_odds_[0])
        throw std::runtime_error("run_warps: " + at_odds_[0]->state() + ", but " +
                                 at_odds_[1]->state() + "; let all members reach the same call");
}

void Grid::enter() {
    Fiber& self = *entering;
    Grid& grid = *self.grid;
    const void* bottom = nullptr;
    std::size_t size = 0;
    if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (!grid.host_.stack) grid.host_.stack = bottom, grid.host_.size = size;
    acquire(grid.start_);
    try {
        EmulatedWarp team(self);
        grid.program_(self.warp, team);
    } catch (...) {
        grid.thrown_ = std::current_exception();
    }
    grid.leave(self);
}

void Grid::leave(Fiber& self) {
    self.has_returned = true;
    if (thrown_) switch_to(host_);
    for (Rendezvous* left : {self.rendezvous, &block_}) {
        left->returned = &self;
        if (!left->waiting.empty()) fail(*left->waiting.front(), self);
    }
    change_over();
}

/// Only arrival is a rendezvous: who comes last hands the values to each, so that none is overwritten before it is read.
void Grid::meet(Fiber& self, Rendezvous& rendezvous, bool orders_memory, const Call& call) {
    self.call = call;
    if (rendezvous.returned) fail(self, *rendezvous.returned);
    if (!rendezvous.waiting.empty() && !(rendezvous.waiting.front()->call == call))
        fail(*rendezvous.waiting.front(), self);
    char& order = rendezvous.order[rendezvous.count % 2];
    if (orders_memory) release(order);
    rendezvous.waiting.push_back(&self);
    if (rendezvous.waiting.size() == rendezvous.num_members) deliver(rendezvous);
    change_over();
    if (orders_memory) acquire(order);
}

void Grid::deliver(Rendezvous& rendezvous) {
    for (Fiber* to : rendezvous.waiting) {
        runnable_.push_back(to);
        if (&rendezvous == &block_) continue;
        for (const Fiber* from : rendezvous.waiting)
            to->received[static_cast<std::size_t>(from->member)] = from->value;
    }
    rendezvous.waiting.clear();
    ++rendezvous.count;
}

/// From a fiber that waits, yields or has returned to one that can go on; to the host where all have returned.
void Grid::change_over() {
    if (runnable_.empty()) {
        look_for_waiting();
        return switch_to(host_);
    }
    const int drawn = random_.below(static_cast<int>(runnable_.size()));
    Fiber& next = *std::exchange(runnable_[static_cast<std::size_t>(drawn)], runnable_.back());
    runnable_.pop_back();
    if (&next != running_) switch_to(next);
}

void Grid::switch_to(Fiber& next) {
    Fiber& self = *std::exchange(running_, &next);
    entering = &next;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(self.has_returned ? nullptr : &self.fake_stack, next.stack,
                                       next.size);
    if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(next.as_thread, switch_without_order);
    swapcontext(&self.context, &next.context);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
}

/// Nobody can go on: two that wait for different calls, such as one warp of which half waits for all warps.
void Grid::look_for_waiting() {
    const Fiber* first = nullptr;
    for (const Fiber& fiber : fibers_) {
        if (fiber.has_returned) continue;
        if (!first) first = &fiber;
        if (!(fiber.call == first->call)) fail(*first, fiber);
    }
}

/// Ends the run: nobody comes back to the fiber that calls this.
void Grid::fail(const Fiber& first, const Fiber& second) {
    at_odds_ = {&first, &second};
    switch_to(host_);
}

}  // namespace

int EmulatedWarp::member() const { return fiber_.member; }

const EmulatedWarp::Values& EmulatedWarp::exchange(std::uint64_t value, bool orders_memory,
                                                   const char* what, const Place& where) {
    fiber_.value = value;
    fiber_.grid->meet(fiber_, *fiber_.rendezvous, orders_memory, {what, where});
    return fiber_.received;
}

void EmulatedWarp::sync_block(Place where) {
    fiber_.grid->meet(fiber_, fiber_.grid->block(), true, {"sync_block", where});
}

void EmulatedWarp::yield() { fiber_.grid->yield(fiber_); }

void run_warps(int num_warps, std::uint64_t seed,
               const std::function<void(int warp, EmulatedWarp& team)>& thread_program) {
    if (num_warps < 1)
        throw std::invalid_argument("run_warps: num_warps is " + std::to_string(num_warps) +
                                    "; ask for at least 1");
    Grid(num_warps, seed, thread_program).run();
}

}  // namespace eddy::test
