#pragma once
// Long work shows how far it is, and stops on Ctrl-C with what is done: the bar of `.progress = true`,
// and for work of your own. A thread of its own draws a few times a second and passes a Ctrl-C on as
// a stop request; workers only count. Invariant: where progress is not shown there is no thread, no
// allocation and no signal handler; nor is there a handler in calls that have a `poll`.
// Test: tests/interop/progress.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/watcher.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace eddy::inline v0 {

/// Where a bar is drawn, and by what clock: standard error, if it is a terminal.
struct ProgressOutput {
    int descriptor = 2;
    std::optional<bool> is_terminal{};  ///< asked of the system where it is not given
    std::function<double()> seconds{};  ///< the steady clock where there is none
};

class EDDY_EXPORT Progress {
  public:
    /// A stop of `cancelled` is one of this. The bar appears where the work
    /// takes longer than a fifth of a second; of several at once only the first.
    Progress(bool wanted, std::stop_token cancelled, std::int64_t num_lanes, const char* title,
             const ProgressOutput& output = {}) noexcept;
    /// Leaves one line that says what was done, if a bar was drawn.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Any thread may call it, as often as it likes: a few relaxed atomic additions.
    void add(std::int64_t lanes_done, std::int64_t accepted, std::int64_t rejected) noexcept;

    /// A stop is requested when the caller of the work cancels it, and on Ctrl-C where a bar may be
    /// shown.
    [[nodiscard]] std::stop_token cancelled() const noexcept;

  private:
    class Live;

    std::stop_token cancelled_;
    std::unique_ptr<Live> live_;  // null where nothing is shown
};

/// Watches a call with a bar, whatever the options say of it.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<void> watch_with_bar(
    const WatchedCall& call, const ProgressOutput& output = {}) noexcept;

}  // namespace eddy::inline v0
