#include <algorithm>
#include <cstdio>
#include <eddy/solve/call/gradient_plan.hpp>
#include <limits>
#include <memory>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#if __has_include(<sys/resource.h>)
#include <sys/resource.h>
#endif

namespace eddy::inline v0::detail {

namespace {

constexpr std::int64_t where_unknown = std::int64_t{64} << 30;
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t physical_bytes() {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages * size : where_unknown;
#else
    return where_unknown;
#endif
}

/// Half of what a limit of address space (`ulimit -v`) leaves: results and threads want some as well.
std::int64_t half_of_free_address_space() {
#if defined(RLIMIT_AS) && defined(_SC_PAGESIZE)
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
    long long used_pages = 0;
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen("/proc/self/statm", "r"),
                                                           close);
    if (!file || std::fscanf(file.get(), "%lld", &used_pages) != 1) used_pages = 0;
    const std::int64_t used = used_pages * sysconf(_SC_PAGESIZE);
    const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 62));
    return std::max<std::int64_t>(most - used, 0) / 2;
#else
    return unlimited;
#endif
}

}  // namespace

// Asked once: a solver object plans every call alike, whatever it has kept.
std::int64_t machine_memory_bytes() {
    static const std::int64_t bytes = std::min(physical_bytes(), half_of_free_address_space());
    return bytes;
}

}  // namespace eddy::inline v0::detail
