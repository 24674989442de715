// The gradient of a loop, from the library: headers, both libraries and flags have arrived.
#include <cstdio>
#include <eddy/storage.hpp>
#include <eddy/version.hpp>

struct Square {
    double advance(double x, std::int64_t) const { return x * (2 - x); }
    double pullback(double x, std::int64_t, double cotangent) { return cotangent * (2 - 2 * x); }
};

int main() {
    eddy::CheckpointedLoop<double, Square, eddy::DiskStore<double>> loop({}, {.checkpoints = 3},
                                                                         eddy::DiskStore<double>());
    const double last = loop.run(1e-3, [](double, std::int64_t step) { return step < 5; });
    const double gradient = loop.reverse(1);
    std::printf("eddy %d.%d.%d: x_5 = %.6f, d x_5 / d x_0 = %.6f\n", EDDY_VERSION_MAJOR,
                EDDY_VERSION_MINOR, EDDY_VERSION_PATCH, last, gradient);
    // x_5 = 1 - (1 - x_0)^32
    return gradient > 31.02 && gradient < 31.03 ? 0 : 1;
}
