// The handler touches lock-free atomics and what was there before it was installed, and calls only
// what POSIX lists as safe in a handler.

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <eddy/interop/interrupt.hpp>
#include <limits>
#include <mutex>

namespace eddy::inline v0 {

namespace {

std::mutex guards_mutex;
int num_guards = 0;
struct sigaction previous;  // written before our handler is installed, not while it is

// One work of many short ones cannot be hit twice: impatience counts across them.
constexpr std::int64_t patience = 2'000'000'000;  // nanoseconds
// Launchers pass a Ctrl-C on to processes that have had it from the terminal already.
constexpr std::int64_t echo = 50'000'000;
constexpr std::int64_t long_ago = std::numeric_limits<std::int64_t>::min() / 2;
std::atomic<std::int64_t> last_interrupt{long_ago};
std::atomic<bool> was_noted{false}, was_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

extern "C" void note_interrupt(int signal) {
    const std::int64_t now = nanoseconds();
    const std::int64_t passed = now - last_interrupt.exchange(now);
    if (passed < echo) return;
    const bool is_second = passed < patience;
    if (!was_noted.exchange(true) && !is_second) return;
    sigaction(signal, &previous, nullptr);
    raise(signal);  // delivered when this handler returns
}

void install() {
    struct sigaction current {};
    if (sigaction(SIGINT, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) return;
    previous = current;
    struct sigaction ours {};
    ours.sa_handler = note_interrupt;
    ours.sa_flags = SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, nullptr);
}

void restore() {
    struct sigaction current {};
    if (sigaction(SIGINT, nullptr, &current) != 0) return;
    if ((current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == note_interrupt)
        sigaction(SIGINT, &previous, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
    const std::lock_guard lock(guards_mutex);
    if (num_guards++ > 0) return;
    was_noted = was_seen = false;
    install();
}

InterruptGuard::~InterruptGuard() {
    std::unique_lock lock(guards_mutex);
    if (--num_guards > 0) return;
    restore();
    const bool is_unheard = was_noted.exchange(false) && !was_seen;
    lock.unlock();
    if (is_unheard) raise(SIGINT);
}

bool InterruptGuard::interrupted() const noexcept {
    if (!was_noted) return false;
    was_seen = true;
    return true;
}

}  // namespace eddy::inline v0
