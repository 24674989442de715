// How many threads a call starts where none are asked for.

#include <eddy/backends/kept_threads.hpp>
#include <filesystem>
#include <fstream>
#include <support/catch.hpp>

#include "../../src/backends/processor_limits.hpp"

namespace {

using Number = std::optional<std::ptrdiff_t>;

/// A tree of control groups of its own, removed at the end.
class ControlGroups {
  public:
    explicit ControlGroups(const char* name)
        : root_(std::filesystem::temp_directory_path() /
                ("eddy_control_groups_" + std::string(name))) {
        std::filesystem::remove_all(root_);
    }
    ~ControlGroups() { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const char* text) const {
        const auto file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    [[nodiscard]] Number quota(const char* membership) const {
        return eddy::detail::processors_of_quota(membership, root_.string());
    }

  private:
    std::filesystem::path root_;
};

}  // namespace

TEST_CASE("threads: the first number of OMP_NUM_THREADS counts") {
    using eddy::detail::threads_of_openmp;
    CHECK(threads_of_openmp("3") == Number(3));
    CHECK(threads_of_openmp(" 4,2") == Number(4));
    CHECK(threads_of_openmp("") == Number());
    CHECK(threads_of_openmp("many") == Number());
    CHECK(threads_of_openmp("0") == Number());
    CHECK(threads_of_openmp("-2") == Number());
}

TEST_CASE("threads: the smallest quota above a group of version 2 holds, rounded up") {
    const ControlGroups groups("v2");
    groups.write("cpu.max", "800000 100000\n");
    groups.write("batch/cpu.max", "250000 100000\n");
    groups.write("batch/job/cpu.max", "max 100000\n");

    CHECK(groups.quota("0::/batch/job\n") == Number(3));
    CHECK(groups.quota("0::/batch/of_the_host/unseen\n") == Number(3));
    CHECK(groups.quota("0::/\n") == Number(8));
    CHECK(groups.quota("0::/elsewhere") == Number(8));
}

TEST_CASE("threads: quotas of version 1 are read for the controller cpu only") {
    const ControlGroups groups("v1");
    groups.write("cpu/cpu.cfs_quota_us", "-1\n");
    groups.write("cpu/cpu.cfs_period_us", "100000\n");
    groups.write("cpu/job/cpu.cfs_quota_us", "50000\n");
    groups.write("cpu/job/cpu.cfs_period_us", "100000\n");

    CHECK(groups.quota("5:cpuset:/job\n4:cpu,cpuacct:/job\n0::/\n") == Number(1));
    CHECK(groups.quota("5:cpuset:/job\n4:cpu,cpuacct:/\n") == Number());
    CHECK(groups.quota("5:cpuset,cpuacct:/job\n") == Number());
    CHECK(groups.quota("nonsense\n\n::") == Number());
    CHECK(groups.quota("") == Number());
}

TEST_CASE("threads: the least of all limits counts, and it is never none") {
    using eddy::detail::threads_within;
    CHECK(threads_within(8, Number(), Number()) == 8);
    CHECK(threads_within(8, Number(3), Number()) == 3);
    CHECK(threads_within(8, Number(3), Number(2)) == 2);
    CHECK(threads_within(2, Number(3), Number(16)) == 2);
    CHECK(threads_within(0, Number(), Number()) == 1);
}

// Run with one processor, and with OMP_NUM_THREADS=1: CMakeLists.txt.
TEST_CASE("threads: one where the surroundings allow one", "[.one]") {
    CHECK(eddy::KeptThreads::num_available() == 1);
    CHECK(eddy::detail::workers_of_threads(0, 100) == 1);
    CHECK(eddy::detail::workers_of_threads(3, 100) == 3);
}
