#pragma once
// What else than the number of processors bounds the threads of this process: texts in, numbers out.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace eddy::inline v0::detail {

/// OMP_NUM_THREADS: its first number, which is that of the outermost level. Nothing where it is none.
[[nodiscard]] std::optional<std::ptrdiff_t> threads_of_openmp(std::string_view text);

/// The processors that the quotas of the control groups of this process amount to, rounded up; nothing where there is no
/// quota. `membership` is the text of /proc/self/cgroup, `root` is where control groups are seen: /sys/fs/cgroup. Version 2
/// (cpu.max) and version 1 (cpu.cfs_quota_us) are read, of the group and of those that contain it: the smallest holds.
[[nodiscard]] std::optional<std::ptrdiff_t> processors_of_quota(std::string_view membership,
                                                                const std::string& root);

/// The least of what is known, and at least 1.
[[nodiscard]] std::ptrdiff_t threads_within(std::ptrdiff_t processors,
                                            std::optional<std::ptrdiff_t> quota,
                                            std::optional<std::ptrdiff_t> openmp);

/// Of this process: its affinity, or else all processors; quotas; OMP_NUM_THREADS.
[[nodiscard]] std::ptrdiff_t threads_of_this_process();

}  // namespace eddy::inline v0::detail
