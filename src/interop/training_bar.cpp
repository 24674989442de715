#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/interop/train/training_bar.hpp>

namespace eddy::inline v0::train {

std::string detail::training_line(std::int64_t step, std::int64_t total, double loss,
                                  const LaneStats& steps, double seconds) {
    constexpr int width = 24;
    const double part =
        total > 0 ? std::clamp(static_cast<double>(step) / static_cast<double>(total), 0., 1.) : 1.;
    std::string line = "[" + std::string(static_cast<std::size_t>(part * width), '#');
    line.append(static_cast<std::size_t>(width + 1) - line.size(), ' ');
    line += eddy::detail::compose("] {} % step {}/{}, loss ", static_cast<int>(100 * part), step,
                                  total);
    char text[64];
    std::snprintf(text, sizeof(text), "%.4g", loss);
    line += text;
    if (steps.accepted + steps.rejected > 0)
        line += eddy::detail::compose(", {} steps accepted, {} rejected", steps.accepted,
                                      steps.rejected);
    if (step > 0 && step < total) {
        const double left = std::min(seconds * (1 - part) / part, 359'999.);
        const auto whole = static_cast<long long>(left + 0.5);
        std::snprintf(text, sizeof(text), ", %lld:%02lld left", whole / 60, whole % 60);
        line += text;
    }
    return line;
}

TrainingBar::TrainingBar(std::int64_t total, const ProgressOutput& output)
    : total_(total),
      output_(output),
      is_shown_(output.is_terminal ? *output.is_terminal : isatty(output.descriptor) != 0),
      begin_(seconds()),
      drawn_(begin_) {}

TrainingBar::~TrainingBar() {
    if (has_drawn_) dprintf(output_.descriptor, "\n");
}

void TrainingBar::operator()(std::int64_t done, double loss, const LaneStats& steps) {
    if (!is_shown_) return;
    const double now = seconds();
    if (has_drawn_ && now - drawn_ < 0.1 && done < total_) return;
    drawn_ = now;
    has_drawn_ = true;
    const std::string line = detail::training_line(done, total_, loss, steps, now - begin_);
    dprintf(output_.descriptor, "\r%s\033[K", line.c_str());
}

double TrainingBar::seconds() const {
    if (output_.seconds) return output_.seconds();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace eddy::inline v0::train
