// The fuzzer: random calls of solve and its gradients, each checked against what must hold for
// every call. A seed and the number of a case say what is called, so that each failure can be run
// alone. Calls are made in a child process: one that crashes or hangs is a failure like another,
// and the campaign goes on behind it.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "fuzz/invariants.hpp"
#include "fuzz/memory.hpp"
#include "fuzz/watchdog.hpp"

namespace {

struct Wishes {
    std::uint64_t seed = 1;
    std::int64_t calls = 1000;
    double seconds = 1e9;
    std::int64_t only = -1;
    bool verbose = false;
};

/// What the child tells, in memory that both processes see.
struct Shared {
    fuzz::Counts counts;
    std::int64_t next = 0;  // the case that is being checked, or is next
    bool done = false;
};

std::uint64_t seed_of(const Wishes& wishes, std::int64_t number) {
    return fuzz::Random(wishes.seed * 0x9E3779B97F4A7C15u ^ static_cast<std::uint64_t>(number))
        .bits();
}

void check_case(const Wishes& wishes, std::int64_t number, fuzz::Counts& counts) {
    const std::string name =
        "fuzz_solve --seed " + std::to_string(wishes.seed) + " --only " + std::to_string(number);
    fuzz::watch(name);
    const std::uint64_t seed = seed_of(wishes, number);
    const fuzz::Scenario scenario = fuzz::random_scenario(seed);
    if (wishes.verbose) std::fprintf(stderr, "%s\n", fuzz::describe(scenario).c_str());
    fuzz::check_invariants(scenario, seed, counts, [&](const std::string& what) {
        std::fprintf(stderr, "FAILED: %s\n  %s\n  %s\n", name.c_str(), what.c_str(),
                     fuzz::describe(scenario).c_str());
    });
    fuzz::stop_watching();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// In the child: cases from shared.next on.
void run_cases(const Wishes& wishes, std::chrono::steady_clock::time_point begin, Shared& shared) {
    while (shared.counts.calls < wishes.calls && seconds_since(begin) < wishes.seconds) {
        check_case(wishes, shared.next, shared.counts);
        ++shared.next;
    }
    shared.done = true;
}

void run_campaign(const Wishes& wishes, Shared& shared) {
    const auto begin = std::chrono::steady_clock::now();
    while (!shared.done) {
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child < 0) {
            std::perror("fuzz_solve: fork");
            std::exit(2);
        }
        if (child == 0) {
            run_cases(wishes, begin, shared);
            std::fflush(nullptr);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (shared.done) break;
        std::fprintf(
            stderr, "FAILED: fuzz_solve --seed %llu --only %lld\n  the process ended, %s %d\n",
            static_cast<unsigned long long>(wishes.seed), static_cast<long long>(shared.next),
            WIFSIGNALED(status) ? "signal" : "exit status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        ++shared.counts.failures;
        ++shared.next;
    }
    std::printf("%.0f s\n", seconds_since(begin));
}

[[noreturn]] void explain() {
    std::fprintf(stderr,
                 "fuzz_solve [--seed N] [--calls N] [--seconds S] [--only CASE] [--verbose]\n"
                 "  makes random calls until N were made or S seconds are over; CASE: that one "
                 "alone, in this process\n");
    std::exit(2);
}

Wishes read_wishes(int argc, char** argv) {
    Wishes wishes;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--verbose") {
            wishes.verbose = true;
            continue;
        }
        if (++i == argc) explain();
        char* end = nullptr;
        if (name == "--seed") {
            wishes.seed = std::strtoull(argv[i], &end, 10);
        } else if (name == "--calls") {
            wishes.calls = std::strtoll(argv[i], &end, 10);
        } else if (name == "--seconds") {
            wishes.seconds = std::strtod(argv[i], &end);
        } else if (name == "--only") {
            wishes.only = std::strtoll(argv[i], &end, 10);
        } else {
            explain();
        }
        if (end == argv[i] || *end != '\0') explain();
    }
    return wishes;
}

}  // namespace

int main(int argc, char** argv) {
    const Wishes wishes = read_wishes(argc, argv);
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("fuzz_solve: mmap");
        return 2;
    }
    Shared& shared = *new (memory) Shared;
    if (wishes.only >= 0) {
        check_case(wishes, wishes.only, shared.counts);
    } else {
        run_campaign(wishes, shared);
    }
    const fuzz::Counts& counts = shared.counts;
    std::printf(
        "seed %llu: %lld cases, %lld calls, %lld lanes, %lld comparisons, %lld refused, "
        "%lld failures\n",
        static_cast<unsigned long long>(wishes.seed),
        static_cast<long long>(wishes.only >= 0 ? 1 : shared.next),
        static_cast<long long>(counts.calls), static_cast<long long>(counts.lanes),
        static_cast<long long>(counts.comparisons), static_cast<long long>(counts.refused),
        static_cast<long long>(counts.failures));
    return counts.failures == 0 ? 0 : 1;
}
