#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <eddy/solve/call/interrupt.hpp>
#include <eddy/solve/call/progress.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "progress_line.hpp"

namespace eddy {

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

}  // namespace

/// What there is only where progress is shown.
class Progress::Live {
  public:
    Live(std::stop_token cancelled, std::int64_t num_lanes, const char* title,
         const ProgressOutput& output)
        : output_(output),
          title_(title),
          num_lanes_(num_lanes),
          pass_on_(std::move(cancelled), StopRequest{&stop_}) {
        if (!output_.seconds) output_.seconds = steady_seconds;
        begin_ = last_drawn_ = output_.seconds();
        artist_ = std::jthread([this](const std::stop_token& done) { watch(done); });
    }
    ~Live() {
        artist_ = {};  // joins
        if (has_drawn_)
            show([&] { return detail::closing_line(title_, counts(), elapsed()); }, "\x1b[K\n");
    }
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    void add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) {
        lanes_done_.fetch_add(lanes_done, std::memory_order_relaxed);
        accepted_.fetch_add(accepted, std::memory_order_relaxed);
        rejected_.fetch_add(rejected, std::memory_order_relaxed);
    }
    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

  private:
    struct StopRequest {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };

    void watch(const std::stop_token& done) {
        std::unique_lock lock(sleeping_);
        while (!done.stop_requested()) {
            wake_.wait_for(lock, done, looking_interval, [] { return false; });
            if (guard_.interrupted()) stop_.request_stop();
            if (turn_.is_ours() && !done.stop_requested()) draw_when_due();
        }
    }
    void draw_when_due() {
        const double now = output_.seconds();
        if (now - last_drawn_ < drawing_interval) return;
        last_drawn_ = now;
        has_drawn_ = true;
        const int columns = usable_columns(output_.descriptor);
        show([&] { return detail::progress_line(title_, counts(), elapsed(), columns); }, "\x1b[K");
    }
    [[nodiscard]] detail::ProgressCounts counts() const {
        return {num_lanes_, lanes_done_.load(std::memory_order_relaxed),
                accepted_.load(std::memory_order_relaxed),
                rejected_.load(std::memory_order_relaxed)};
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

    std::atomic<std::int64_t> lanes_done_{0}, accepted_{0}, rejected_{0};
    ProgressOutput output_;
    const char* title_;
    std::int64_t num_lanes_;
    Turn turn_;
    bool has_drawn_ = false;
    double begin_ = 0, last_drawn_ = 0;
    InterruptGuard guard_;
    std::stop_source stop_;
    std::stop_callback<StopRequest> pass_on_;
    std::mutex sleeping_;
    std::condition_variable_any wake_;
    std::jthread artist_;
};

Progress::Progress(bool wanted, std::stop_token cancelled, std::int64_t num_lanes,
                   const char* title, const ProgressOutput& output) noexcept
    : cancelled_(std::move(cancelled)) {
    if (!wanted || !output.is_terminal.value_or(is_terminal(output.descriptor))) return;
    try {
        live_ = std::make_unique<Live>(cancelled_, num_lanes, title, output);
        cancelled_ = live_->token();
    } catch (...) {
        // Without memory or threads to spare, the work goes on unseen.
    }
}

Progress::~Progress() = default;

void Progress::add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) noexcept {
    if (live_) live_->add(lanes_done, accepted, rejected);
}

std::stop_token Progress::cancelled() const noexcept { return cancelled_; }

}  // namespace eddy
