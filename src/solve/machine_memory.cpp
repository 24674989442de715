#include <eddy/solve/call/gradient_plan.hpp>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace eddy::inline v0::detail {

std::int64_t machine_memory_bytes() {
    constexpr std::int64_t where_unknown = std::int64_t{64} << 30;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    static const std::int64_t bytes = [] {
        const std::int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        return pages > 0 && size > 0 ? pages * size : where_unknown;
    }();
    return bytes;
#else
    return where_unknown;
#endif
}

}  // namespace eddy::inline v0::detail
