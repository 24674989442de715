// Ctrl-C under a guard. Each case sends real signals, in a child process of its own: what a signal
// does to it is the result.

#include <eddy/interop/interrupt.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

/// How a child process that runs `body` ends: its exit status, or minus the signal that killed it.
template <class Body>
int end_of(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);  // the test runner has a handler
        alarm(20);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

volatile sig_atomic_t calls_of_old_handler = 0;
void old_handler(int) { calls_of_old_handler = calls_of_old_handler + 1; }

void (*handler_now())(int) {
    struct sigaction current {};
    sigaction(SIGINT, nullptr, &current);
    return current.sa_handler;
}

/// As long after the last as a hand needs.
void press_again() {
    usleep(100'000);
    raise(SIGINT);
}

constexpr int survived = 40;  // plus what was observed

}  // namespace

TEST_CASE("interrupt: without a guard Ctrl-C ends the process") {
    CHECK(end_of([] { return raise(SIGINT); }) == -SIGINT);
}

TEST_CASE("interrupt: under a guard the first is noted, and the old handler is back afterwards") {
    CHECK(end_of([] {
              signal(SIGINT, old_handler);
              bool before = true, after = false;
              {
                  const eddy::InterruptGuard guard;
                  before = guard.interrupted();
                  raise(SIGINT);
                  after = guard.interrupted();
              }
              const bool restored = handler_now() == old_handler && calls_of_old_handler == 0;
              return survived + (before ? 4 : 0) + (after ? 2 : 0) + (restored ? 1 : 0);
          }) == survived + 3);
}

TEST_CASE("interrupt: the second one ends the process, under the same guard or the next") {
    CHECK(end_of([] {
              const eddy::InterruptGuard guard;
              raise(SIGINT);
              if (!guard.interrupted()) return 1;
              press_again();
              return survived;
          }) == -SIGINT);
    CHECK(end_of([] {
              for (int i = 0; i < 2; ++i) {
                  const eddy::InterruptGuard guard;
                  press_again();
                  if (!guard.interrupted()) return 1;
              }
              return survived;
          }) == -SIGINT);
}

TEST_CASE("interrupt: the second one calls the old handler where there is one") {
    CHECK(end_of([] {
              signal(SIGINT, old_handler);
              const eddy::InterruptGuard guard;
              raise(SIGINT);
              press_again();
              return guard.interrupted() ? survived + calls_of_old_handler : 1;
          }) == survived + 1);
}

TEST_CASE("interrupt: one that arrives twice at once is one") {
    CHECK(end_of([] {
              const eddy::InterruptGuard guard;
              raise(SIGINT);
              raise(SIGINT);
              return survived + guard.interrupted();
          }) == survived + 1);
}

TEST_CASE("interrupt: one that nobody asked about is not lost") {
    CHECK(end_of([] {
              {
                  const eddy::InterruptGuard guard;
                  raise(SIGINT);
              }
              return survived;
          }) == -SIGINT);
}

TEST_CASE("interrupt: nested guards see the same Ctrl-C, and the last one restores") {
    CHECK(end_of([] {
              const auto original = handler_now();
              bool outer_saw = false, inner_saw = false, kept = false;
              {
                  const eddy::InterruptGuard outer;
                  const auto ours = handler_now();
                  {
                      const eddy::InterruptGuard inner;
                      raise(SIGINT);
                      inner_saw = inner.interrupted();
                  }
                  outer_saw = outer.interrupted();
                  kept = handler_now() == ours && ours != original;
              }
              const bool restored = handler_now() == original;
              return survived + inner_saw + 2 * outer_saw + 4 * kept + 8 * restored;
          }) == survived + 15);
}

TEST_CASE("interrupt: guards of several threads leave the old handler") {
    CHECK(end_of([] {
              signal(SIGINT, old_handler);
              {
                  std::vector<std::jthread> threads;
                  for (int i = 0; i < 4; ++i)
                      threads.emplace_back([] {
                          for (int k = 0; k < 2000; ++k) const eddy::InterruptGuard guard;
                      });
              }
              return survived + (handler_now() == old_handler);
          }) == survived + 1);
}

TEST_CASE("interrupt: a process that ignores SIGINT, or changes its handler, keeps that") {
    CHECK(end_of([] {
              signal(SIGINT, SIG_IGN);
              const eddy::InterruptGuard guard;
              raise(SIGINT);
              return survived + (handler_now() == SIG_IGN) + 2 * guard.interrupted();
          }) == survived + 1);
    CHECK(end_of([] {
              {
                  const eddy::InterruptGuard guard;
                  signal(SIGINT, old_handler);
              }
              return survived + (handler_now() == old_handler);
          }) == survived + 1);
}
