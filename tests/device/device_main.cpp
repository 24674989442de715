// The runner of the tests that need a device: without one it says so, and exits as a test that was
// skipped.
#include <cuda_runtime_api.h>

#include <cstdio>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char* argv[]) {
    constexpr int skipped = 4;
    int devices = 0;
    if (const cudaError_t code = cudaGetDeviceCount(&devices); code != cudaSuccess) {
        std::printf("skipped: no device (%s)\n", cudaGetErrorString(code));
        return skipped;
    }
    return Catch::Session().run(argc, argv);
}
