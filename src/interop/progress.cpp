#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <eddy/interop/interrupt.hpp>
#include <eddy/interop/progress.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "progress_line.hpp"

namespace eddy::inline v0 {

namespace {

constexpr double drawing_interval = 0.2;                          // seconds by the output's clock
constexpr auto looking_interval = std::chrono::milliseconds(50);  // for a Ctrl-C, in real time

/// The right to draw: of several bars at once only the first has it.
class Turn {
  public:
    Turn() : is_ours_(!taken.exchange(true)) {}
    ~Turn() {
        if (is_ours_) taken = false;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] bool is_ours() const { return is_ours_; }

  private:
    static inline std::atomic<bool> taken{false};
    bool is_ours_;
};

double steady_seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// One less than the terminal's columns: a cursor after the last one may wrap.
int usable_columns(int descriptor) {
    winsize size{};
    const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known ? size.ws_col : 80) - 1;
}

/// Not one that takes control sequences for text, as an editor's shell does.
bool is_terminal(int descriptor) {
    const char* kind = std::getenv("TERM");
    return isatty(descriptor) == 1 && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

/// Draws while it lives, and stops the work on Ctrl-C.
class Bar {
  public:
    Bar(const WatchedCall& call, const ProgressOutput& output) : output_(output), call_(call) {
        if (!output_.seconds) output_.seconds = steady_seconds;
        begin_ = last_drawn_ = output_.seconds();
        if (!call.has_poll) guard_.emplace();
        artist_ = std::jthread([this](const std::stop_token& done) { watch(done); });
    }
    ~Bar() {
        artist_ = {};  // joins
        if (has_drawn_)
            show([&] { return detail::closing_line(call_.title, counts(), elapsed()); },
                 "\x1b[K\n");
    }
    Bar(const Bar&) = delete;
    Bar& operator=(const Bar&) = delete;

  private:
    void watch(const std::stop_token& done) {
        std::unique_lock lock(sleeping_);
        while (!done.stop_requested()) {
            wake_.wait_for(lock, done, looking_interval, [] { return false; });
            if (guard_ && guard_->interrupted()) call_.stop(call_.call);
            if (turn_.is_ours() && !done.stop_requested()) draw_when_due();
        }
    }
    void draw_when_due() {
        const double now = output_.seconds();
        if (now - last_drawn_ < drawing_interval) return;
        last_drawn_ = now;
        has_drawn_ = true;
        const int columns = usable_columns(output_.descriptor);
        show([&] { return detail::progress_line(call_.title, counts(), elapsed(), columns); },
             "\x1b[K");
    }
    [[nodiscard]] detail::ProgressCounts counts() const {
        return {call_.num_lanes, call_.counts->lanes_done(), call_.counts->accepted(),
                call_.counts->rejected()};
    }
    [[nodiscard]] double elapsed() const { return output_.seconds() - begin_; }
    /// What cannot be written is left out.
    template <class Line>
    void show(Line line, const char* end) const noexcept {
        try {
            const std::string text = "\r" + line() + end;
            [[maybe_unused]] const auto written =
                ::write(output_.descriptor, text.data(), text.size());
        } catch (...) {
        }
    }

    ProgressOutput output_;
    WatchedCall call_;
    Turn turn_;
    bool has_drawn_ = false;
    double begin_ = 0, last_drawn_ = 0;
    std::optional<InterruptGuard> guard_;
    std::mutex sleeping_;
    std::condition_variable_any wake_;
    std::jthread artist_;
};

bool is_seen(const ProgressOutput& output) {
    return output.is_terminal.value_or(is_terminal(output.descriptor));
}

}  // namespace

std::shared_ptr<void> watch_with_bar(const WatchedCall& call,
                                     const ProgressOutput& output) noexcept {
    try {
        if (is_seen(output)) return std::make_shared<Bar>(call, output);
    } catch (...) {
        // Without memory or threads to spare, the work goes on unseen.
    }
    return nullptr;
}
void Watcher::show_bar() {
    begin_ = [](const WatchedCall& call) noexcept { return watch_with_bar(call); };
}

/// What there is only where progress is shown.
class Progress::Live {
  public:
    Live(std::stop_token cancelled, std::int64_t num_lanes, const char* title,
         const ProgressOutput& output)
        : pass_on_(std::move(cancelled), StopRequest{&stop_}),
          bar_({title, num_lanes, &counts_, false, &stop_, request_stop}, output) {}

    void add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) {
        counts_.add(lanes_done, accepted, rejected);
    }
    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

  private:
    static void request_stop(void* source) {
        static_cast<std::stop_source*>(source)->request_stop();
    }
    struct StopRequest {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };

    CallCounts counts_;
    std::stop_source stop_;
    std::stop_callback<StopRequest> pass_on_;
    Bar bar_;
};

Progress::Progress(bool wanted, std::stop_token cancelled, std::int64_t num_lanes,
                   const char* title, const ProgressOutput& output) noexcept
    : cancelled_(std::move(cancelled)) {
    try {
        if (!wanted || !is_seen(output)) return;
        live_ = std::make_unique<Live>(cancelled_, num_lanes, title, output);
        cancelled_ = live_->token();
    } catch (...) {
        // Unseen, too.
    }
}

Progress::~Progress() = default;

void Progress::add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) noexcept {
    if (live_) live_->add(lanes_done, accepted, rejected);
}

std::stop_token Progress::cancelled() const noexcept { return cancelled_; }

}  // namespace eddy::inline v0
