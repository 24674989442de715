#include "processor_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#if __has_include(<sched.h>)
#include <sched.h>
#endif

namespace eddy::inline v0::detail {

namespace {

std::optional<std::int64_t> first_number(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == text.npos) return {};
    text.remove_prefix(begin);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return {};
    return number;
}

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Quota and period in microseconds, as processors. "max" or -1 is no quota.
std::optional<std::ptrdiff_t> processors_of(std::string_view quota, std::string_view period) {
    const auto of_period = first_number(quota), length = first_number(period);
    if (!of_period || !length || *of_period <= 0 || *length <= 0) return {};
    return static_cast<std::ptrdiff_t>(*of_period / *length + (*of_period % *length != 0));
}

std::optional<std::ptrdiff_t> quota_of_version_2(const std::string& folder) {
    const std::string text = text_of_file(folder + "/cpu.max");
    const auto gap = text.find(' ');
    if (gap == text.npos) return {};
    return processors_of(text, std::string_view(text).substr(gap));
}
std::optional<std::ptrdiff_t> quota_of_version_1(const std::string& folder) {
    return processors_of(text_of_file(folder + "/cpu.cfs_quota_us"),
                         text_of_file(folder + "/cpu.cfs_period_us"));
}

std::optional<std::ptrdiff_t> least(std::optional<std::ptrdiff_t> a,
                                    std::optional<std::ptrdiff_t> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

bool names_processors(std::string_view controllers) {
    return ("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos;
}

/// The processors that this process may run on; 0 where the system does not say. A mask that is too short for the machine is
/// refused, and tried again at twice the length.
std::ptrdiff_t processors_of_affinity() {
#if defined(CPU_ALLOC)
    for (std::size_t size = sizeof(cpu_set_t); size <= 64 * sizeof(cpu_set_t); size *= 2) {
        std::vector<cpu_set_t> mask(size / sizeof(cpu_set_t));
        if (sched_getaffinity(0, size, mask.data()) == 0) return CPU_COUNT_S(size, mask.data());
    }
#endif
    return 0;
}

}  // namespace

std::optional<std::ptrdiff_t> threads_of_openmp(std::string_view text) {
    const auto number = first_number(text);
    if (!number || *number <= 0) return {};
    return static_cast<std::ptrdiff_t>(*number);
}

std::optional<std::ptrdiff_t> processors_of_quota(std::string_view membership,
                                                  const std::string& root) {
    std::optional<std::ptrdiff_t> found;
    while (!membership.empty()) {  // lines "number:controllers:path"; version 2 has no controllers
        const auto line = membership.substr(0, membership.find('\n'));
        membership.remove_prefix(std::min(line.size() + 1, membership.size()));
        const auto first = line.find(':');
        const auto second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const bool is_version_2 = controllers.empty();
        if (!is_version_2 && !names_processors(controllers)) continue;
        const std::string top = is_version_2 ? root : root + "/cpu";
        // From the group to the top of what is seen. In a container the path may be one of the host's: then the top is its own.
        for (std::string path(line.substr(second + 1));;) {
            while (path.ends_with('/')) path.pop_back();
            const std::string folder = top + path;
            found = least(found,
                          is_version_2 ? quota_of_version_2(folder) : quota_of_version_1(folder));
            if (path.empty()) break;
            const auto slash = path.find_last_of('/');
            path.resize(slash == path.npos ? 0 : slash);
        }
    }
    return found;
}

std::ptrdiff_t threads_within(std::ptrdiff_t processors, std::optional<std::ptrdiff_t> quota,
                              std::optional<std::ptrdiff_t> openmp) {
    return std::max<std::ptrdiff_t>(1, least(processors, least(quota, openmp)).value());
}

std::ptrdiff_t threads_of_this_process() {
    std::ptrdiff_t processors = processors_of_affinity();
    if (processors == 0)
        processors = static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
    const char* openmp = std::getenv("OMP_NUM_THREADS");
    return threads_within(processors,
                          processors_of_quota(text_of_file("/proc/self/cgroup"), "/sys/fs/cgroup"),
                          openmp ? threads_of_openmp(openmp) : std::nullopt);
}

}  // namespace eddy::inline v0::detail
