// The second target: this program asks for nothing but eddy::storage.
#include <cstdlib>
#include <eddy/storage.hpp>

struct Square {
    double advance(double x, std::int64_t) const { return x * (2 - x); }
    double pullback(double x, std::int64_t, double cotangent) { return cotangent * (2 - 2 * x); }
};

template <class Loop>
double gradient(Loop loop) {
    loop.run(1e-3, [](double, std::int64_t step) { return step < 20; });
    return loop.reverse(1);
}

int main() {
    using Disk = eddy::DiskStore<double>;
    const double in_memory =
        gradient(eddy::CheckpointedLoop<double, Square>({}, {.checkpoints = 3}));
    const double on_disk =
        gradient(eddy::CheckpointedLoop<double, Square, Disk>({}, {.checkpoints = 3}, Disk()));
    const bool planned = !eddy::hrevolve_actions(20, {.tiers = {{.slots = 3}}}).empty();
    return in_memory == on_disk && planned ? EXIT_SUCCESS : EXIT_FAILURE;
}
