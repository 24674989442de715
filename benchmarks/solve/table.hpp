#pragma once
// The tables that these programs print: one row per figure.

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <string>

namespace benchmark {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] inline std::string text(const char* format, ...) {
    char buffer[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

inline void print_row(const std::string& what, const std::string& goal, const std::string& measured,
                      const std::string& ratio, const std::string& error) {
    std::printf("%-56s %-8s %-18s %-8s %s\n", what.c_str(), goal.c_str(), measured.c_str(),
                ratio.c_str(), error.c_str());
    std::fflush(stdout);
}

/// The title, how the figures were measured, and the names of the columns.
inline void print_heading(const std::string& title, const std::string& how) {
    std::printf("\n%s\n%s\n", title.c_str(), how.c_str());
#ifndef __OPTIMIZE__
    std::printf("NOT OPTIMISED: these figures mean nothing; build the release preset\n");
#endif
    print_row("what", "goal", "measured", "ratio", "achieved error; work");
}

[[nodiscard]] inline std::string nanoseconds(double time) {
    if (time < 1e3) return text("%.3g ns", time);
    if (time < 1e6) return text("%.3g us", time * 1e-3);
    return text("%.3g ms", time * 1e-6);
}

}  // namespace benchmark
