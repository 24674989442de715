// GPUs as ranks: sums that go by NCCL have the bits of the host's, unordered ones are equal on all, and what one throws
// ends all. Compiled and linked everywhere; where there are not two devices it says so, and that eddy says so.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#if __has_include(<nccl.h>)
#include <eddy/backends/nccl.hpp>

namespace {

using eddy::detail::LeafRun;

constexpr int skipped = 4;
constexpr std::int64_t lanes_of_rank = 1'000, columns = 5;

LeafRun sums_of(std::int64_t first, std::int64_t count) {
    LeafRun sums({64, columns, 1, true}, first);
    for (std::int64_t lane = first; lane < first + count; ++lane) {
        double row[columns];
        for (std::int64_t i = 0; i < columns; ++i)
            row[i] = 1. / static_cast<float>(3 + (lane * 7919 + i) % 1009);
        sums.add_lane(row);
    }
    return sums;
}

std::string said_by(const std::vector<int>& devices, const auto& work,
                    const eddy::DeviceSharing& options = {}) {
    try {
        eddy::on_each_device(devices, work, options);
        return "done";
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// How many ranks have the sums that the host has, to so much.
int right_ones(const std::vector<int>& devices, double tolerance, bool unordered) {
    const auto ranks = static_cast<std::int64_t>(devices.size());
    const auto wanted = sums_of(0, ranks * lanes_of_rank).total();
    std::vector<int> right(devices.size());
    const std::string said = said_by(
        devices,
        [&](const eddy::Nccl& gpu) {
            for (int call = 0; call < 3; ++call) {
                eddy::detail::RankLink(gpu.group).in_call("call", [&] {
                    static_cast<void>(gpu.group->agree({}, lanes_of_rank));
                    const auto total =
                        gpu.group->add_up({sums_of(gpu.rank() * lanes_of_rank, lanes_of_rank)})[0];
                    bool is_right = total.size() == wanted.size();
                    for (std::size_t i = 0; i < wanted.size(); ++i)
                        is_right = is_right && std::abs(total[i] - wanted[i]) <= tolerance;
                    right[static_cast<std::size_t>(gpu.rank())] = is_right;
                });
            }
        },
        {.unordered = unordered});
    std::printf("%d devices, %s: %s\n", static_cast<int>(ranks),
                unordered ? "unordered" : "in order", said.c_str());
    int sum = 0;
    for (const int is_right : right) sum += is_right;
    return sum;
}

}  // namespace

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        const std::string said = said_by({0, 1}, [](const eddy::Nccl&) {});
        std::printf("skipped: no device; eddy says: %s\n", said.c_str());
        return said.find("Cuda: ") == 0 ? skipped : 1;
    }
    if (devices < 2) {
        const std::string said = said_by({0, 1}, [](const eddy::Nccl&) {});
        std::printf("skipped: one device, two are wanted; eddy says: %s\n", said.c_str());
        return said.find("this machine has 1") != std::string::npos ? skipped : 1;
    }
    int failures = 0;
    for (int count = 2; count <= devices; ++count) {
        std::vector<int> some;
        for (int device = 0; device < count; ++device) some.push_back(device);
        failures += right_ones(some, 0, false) != count;
        failures += right_ones(some, 1e-6, true) != count;
        const std::string said = said_by(some, [&](const eddy::Nccl& gpu) {
            eddy::detail::RankLink(gpu.group).in_call("call", [&] {
                static_cast<void>(gpu.group->agree({}, lanes_of_rank));
                if (gpu.rank() == 1) throw std::runtime_error("broke");
                static_cast<void>(gpu.group->add_up({sums_of(0, lanes_of_rank)}));
            });
        });
        failures += said != "broke";
    }
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
#else
int main() {
    std::printf(
        "skipped: no NCCL here; it comes with nvidia-nccl-cu13 of PyPI or libnccl-dev of NVIDIA\n");
    return 4;
}
#endif
