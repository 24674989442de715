// The words of a training's bar, and where it is drawn.

#include <unistd.h>

#include <eddy/interop/train/training_bar.hpp>
#include <limits>

#include "support/catch.hpp"

namespace {

namespace train = eddy::train;
using train::detail::training_line;

/// What a bar writes to a pipe.
template <class Draw>
std::string drawn(bool is_terminal, const Draw& draw) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    double now = 0;
    {
        train::TrainingBar bar(
            100,
            {.descriptor = ends[1], .is_terminal = is_terminal, .seconds = [&] { return now; }});
        draw(bar, now);
    }
    close(ends[1]);
    char text[1000];
    const auto length = read(ends[0], text, sizeof(text));
    close(ends[0]);
    return {text, static_cast<std::size_t>(length)};
}

}  // namespace

TEST_CASE("training_bar: a line tells step, loss, steps of the solver and the time left") {
    CHECK(training_line(250, 1000, 0.01234, {.accepted = 460, .rejected = 12}, 30) ==
          "[######                  ] 25 % step 250/1000, loss 0.01234, 460 steps accepted, 12 "
          "rejected, "
          "1:30 left");
    CHECK(training_line(1000, 1000, 1, {}, 30) ==
          "[########################] 100 % step 1000/1000, loss 1");
    CHECK(training_line(0, 0, std::numeric_limits<double>::quiet_NaN(), {}, 0).find("loss nan") !=
          std::string::npos);
    CHECK(training_line(2000, 1000, 1, {}, 1e300).size() < 100);
    CHECK(training_line(1, std::numeric_limits<std::int64_t>::max(), 1, {}, 1e300).size() < 100);
}

TEST_CASE("training_bar: it is drawn ten times a second and at the end, on terminals alone") {
    const auto draw = [](train::TrainingBar& bar, double& now) {
        bar(1, 5);
        now = 0.05;
        bar(2, 4);
        now = 0.2;
        bar(3, 3);
        bar(100, 2);
    };

    const std::string text = drawn(true, draw);

    CHECK(text.find("step 1/100") != text.npos);
    CHECK(text.find("step 2/100") == text.npos);
    CHECK(text.find("step 3/100") != text.npos);
    CHECK(text.find("step 100/100") != text.npos);
    CHECK(text.back() == '\n');
    CHECK(drawn(false, draw).empty());
}
