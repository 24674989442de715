#include "fuzz/watchdog.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace fuzz {

namespace {

constexpr int processor_seconds = 20 * slowness, clock_seconds = 300 * slowness;
char name_of_work[1024];

void end_process(int) {
    constexpr char words[] = "HANG: ";
    // Nothing can be done where standard error is gone.
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0 ||
        write(STDERR_FILENO, name_of_work, std::strlen(name_of_work)) < 0 ||
        write(STDERR_FILENO, "\n", 1) < 0) {
    }
    _exit(hung);
}

void set_timer(int which, int seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = seconds;
    setitimer(which, &timer, nullptr);
}

}  // namespace

void watch(const std::string& name) {
    name_of_work[name.copy(name_of_work, sizeof name_of_work - 1)] = '\0';
    std::signal(SIGPROF, end_process);
    std::signal(SIGALRM, end_process);
    set_timer(ITIMER_PROF, processor_seconds);
    set_timer(ITIMER_REAL, clock_seconds);
}

void stop_watching() {
    set_timer(ITIMER_PROF, 0);
    set_timer(ITIMER_REAL, 0);
}

}  // namespace fuzz
