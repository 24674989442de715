// eddy::nccl arrives with its NCCL, of which the program asks something; what eddy says of no devices wants none.
#include <cstdio>
#include <cstring>
#include <eddy/backends/nccl.hpp>
#include <exception>

int main() {
    int version = 0;
    if (ncclGetVersion(&version) != ncclSuccess || version != NCCL_VERSION_CODE) {
        std::printf("nccl.h is of version %d, the library of %d\n", NCCL_VERSION_CODE, version);
        return 1;
    }
    try {
        eddy::on_each_device({}, [](const eddy::Nccl&) {});
    } catch (const std::exception& error) {
        if (std::strncmp(error.what(), "on_each_device: 0 devices", 25) == 0) return 0;
        std::puts(error.what());
    }
    return 1;
}
