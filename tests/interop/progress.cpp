// The words of the progress bar, and the bar itself drawn into a pipe by a clock of the test's.

#include <eddy/interop/progress.hpp>
#include <eddy/solve/call/solve.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "interop/progress_line.hpp"
#include "support/catch.hpp"
#include "support/counting_new.hpp"

namespace {

using eddy::detail::closing_line;
using eddy::detail::progress_line;

/// A pipe that is read without waiting for more than has been written.
class Pipe {
  public:
    Pipe() {
        REQUIRE(pipe(ends_) == 0);
        REQUIRE(fcntl(ends_[0], F_SETFL, O_NONBLOCK) == 0);
    }
    ~Pipe() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    [[nodiscard]] int write_end() const { return ends_[1]; }
    [[nodiscard]] std::string text() const {
        std::string result;
        char buffer[256];
        for (ssize_t count = 0; (count = read(ends_[0], buffer, sizeof(buffer))) > 0;)
            result.append(buffer, static_cast<std::size_t>(count));
        return result;
    }
    /// The first text that arrives within ten seconds.
    [[nodiscard]] std::string awaited_text() const {
        pollfd readable{ends_[0], POLLIN, 0};
        poll(&readable, 1, 10'000);
        return text();
    }

  private:
    int ends_[2] = {};
};

/// A clock that stands still, and a terminal.
struct Stage {
    Pipe pipe;
    std::atomic<double> now{100};

    [[nodiscard]] eddy::ProgressOutput output() {
        return {.descriptor = pipe.write_end(), .is_terminal = true, .seconds = [this] {
                    return now.load();
                }};
    }
};

void (*sigint_handler())(int) {
    struct sigaction current {};
    sigaction(SIGINT, nullptr, &current);
    return current.sa_handler;
}

}  // namespace

TEST_CASE("progress: a line says the time left, trajectories and steps") {
    CHECK(progress_line("solve",
                        {.num_lanes = 1024, .lanes_done = 512, .accepted = 12'345, .rejected = 999},
                        12, 79) ==
          "solve [===>  ]  50% 0:12 left, 512/1024 trajectories, 12.3k steps, 999 rejected");
    CHECK(progress_line("solve", {.num_lanes = 4, .lanes_done = 1}, 1250, 107) ==
          "solve [==========>                             ]  25% 1:02:30 left, 1/4 trajectories, "
          "0 steps, 0 rejected");
    CHECK(progress_line("solve", {.num_lanes = 4}, 3, 63) ==
          "solve [>   ]   0% ? left, 0/4 trajectories, 0 steps, 0 rejected");
    CHECK(progress_line("solve", {.num_lanes = 4, .lanes_done = 4}, 3, 66) ==
          "solve [====] 100% 0:00 left, 4/4 trajectories, 0 steps, 0 rejected");
}

TEST_CASE("progress: a line fits its columns, without the bar where it must") {
    const eddy::detail::ProgressCounts counts{.num_lanes = 1'000'000, .lanes_done = 333'333};
    for (int columns = 0; columns < 200; ++columns)
        CHECK(progress_line("solve", counts, 1e9, columns).size() <=
              static_cast<std::size_t>(columns));
    CHECK(progress_line("solve", counts, 60, 74) ==
          "solve  33% 2:00 left, 333333/1000000 trajectories, 0 steps, 0 rejected");
    CHECK(progress_line("solve", counts, 60, 30) == "solve  33% 2:00 left, 333333/1");
}

TEST_CASE("progress: the last line says what was done, and whether that is all") {
    CHECK(closing_line("solve", {1024, 1024, 9'999, 0}, 12.34) ==
          "solve: 1024 trajectories in 12.3 s, 9999 steps, 0 rejected");
    CHECK(closing_line("solve", {1024, 1024, 9'996'000, 99'960}, 59.94) ==
          "solve: 1024 trajectories in 59.9 s, 10.0M steps, 100k rejected");
    CHECK(
        closing_line("value_and_gradient", {1024, 7, 999'499'999'999, 999'600}, 59.96) ==
        "value_and_gradient: stopped, 7 of 1024 trajectories in 1:00, 999G steps, 1.00M rejected");
}

TEST_CASE("progress: a bar is drawn when the clock says so, and once") {
    Stage stage;
    {
        eddy::Progress progress(true, {}, 8, "solve", stage.output());
        progress.add(2, 20'000, 5);
        stage.now = 110;

        CHECK(stage.pipe.awaited_text() ==
              "\rsolve [===>         ]  25% 0:30 left, 2/8 trajectories, 20.0k steps, 5 "
              "rejected\x1b[K");

        progress.add(6, 0, 0);
        stage.now = 110.1;  // too early for another
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        CHECK(stage.pipe.text() == "");
    }
    CHECK(stage.pipe.text() ==
          "\rsolve: 8 trajectories in 10.1 s, 20.0k steps, 5 rejected\x1b[K\n");
}

TEST_CASE("progress: short work leaves no trace") {
    Stage stage;
    {
        eddy::Progress progress(true, {}, 8, "solve", stage.output());
        stage.now = 100.19;
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        progress.add(8, 8, 0);
    }
    CHECK(stage.pipe.text() == "");
}

TEST_CASE("progress: of two bars at once the second is silent") {
    Stage first, second;
    {
        eddy::Progress outer(true, {}, 8, "outer", first.output());
        eddy::Progress inner(true, {}, 8, "inner", second.output());
        first.now = second.now = 110;
        CHECK(first.pipe.awaited_text().substr(0, 7) == "\router ");
    }
    CHECK(second.pipe.text() == "");

    eddy::Progress third(true, {}, 8, "third", second.output());
    second.now = 120;
    CHECK(second.pipe.awaited_text().substr(0, 7) == "\rthird ");
}

TEST_CASE("progress: off where nobody asked or nobody looks, and then free of cost") {
    Pipe pipe;
    for (bool wanted : {false, true}) {  // a pipe is no terminal
        const auto before = sigint_handler();
        bool can_stop = true, has_handler = true;

        const auto allocations = support::allocations_of([&] {
            eddy::Progress progress(wanted, {}, 8, "solve", {.descriptor = pipe.write_end()});
            progress.add(8, 100, 10);
            can_stop = progress.cancelled().stop_possible();
            has_handler = sigint_handler() != before;
        });

        CHECK(allocations == 0);
        CHECK(!can_stop);
        CHECK(!has_handler);
    }
    CHECK(pipe.text() == "");
}

TEST_CASE("progress: counts of several threads add up") {
    Stage stage;
    {
        eddy::Progress progress(true, {}, 4000, "solve", stage.output());
        std::vector<std::jthread> workers;
        for (int i = 0; i < 4; ++i)
            workers.emplace_back([&] {
                for (int k = 0; k < 1000; ++k) progress.add(1, 2, 1);
            });
        workers.clear();
        stage.now = 110;
        (void)stage.pipe.awaited_text();
    }
    CHECK(stage.pipe.text() ==
          "\rsolve: 4000 trajectories in 10.0 s, 8000 steps, 4000 rejected\x1b[K\n");
}

TEST_CASE("progress: a cancelled caller stops the work, shown or not") {
    for (bool is_terminal : {false, true}) {
        Pipe pipe;
        std::stop_source source;
        const eddy::Progress progress(true, source.get_token(), 8, "solve",
                                      {.descriptor = pipe.write_end(), .is_terminal = is_terminal});
        const std::stop_token token = progress.cancelled();
        CHECK(!token.stop_requested());

        source.request_stop();

        CHECK(token.stop_requested());
    }
}

TEST_CASE("progress: Ctrl-C stops the work, and the last line says so") {
    Stage stage;

    const pid_t child = fork();  // the runner has a handler of its own
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        alarm(20);
        {
            eddy::Progress progress(true, {}, 8, "solve", stage.output());
            progress.add(3, 30, 0);
            stage.now = 110;
            (void)stage.pipe.awaited_text();
            raise(SIGINT);
            while (!progress.cancelled().stop_requested()) std::this_thread::yield();
        }
        _exit(sigint_handler() == SIG_DFL ? 42 : 43);
    }
    int status = 0;
    waitpid(child, &status, 0);

    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 42);
    CHECK(stage.pipe.text() ==
          "\rsolve: stopped, 3 of 8 trajectories in 10.0 s, 30 steps, 0 rejected\x1b[K\n");
}

TEST_CASE(
    "progress: the bar of a call counts trajectories, and leaves Ctrl-C to a caller who asks") {
    const bool has_poll = GENERATE(false, true);
    Stage stage;
    eddy::CallCounts counts;
    const auto before = sigint_handler();
    {
        const auto bar = eddy::watch_with_bar(
            {"solve", 8, &counts, has_poll, nullptr, [](void*) {}}, stage.output());
        REQUIRE(bar != nullptr);
        CHECK((sigint_handler() == before) == has_poll);
        counts.add(eddy::LaneOutcome{.accepted = 20, .rejected = 5});
        counts.add(eddy::LaneOutcome{.accepted = 3, .result = eddy::Result::cancelled});
        stage.now = 110;
        CHECK(stage.pipe.awaited_text().find(" 12% 1:10 left, 1/8 trajectories, 23 steps, 5 ") !=
              std::string::npos);
    }
    CHECK(sigint_handler() == before);
    CHECK(stage.pipe.text().find("solve: stopped, 1 of 8 trajectories") != std::string::npos);
}
