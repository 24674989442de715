// expect: the body must offer advance.* and .*pullback
// A checkpointed loop says what its body lacks.
#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>

struct Body {
    double advance(double x, std::int64_t) const { return 2 * x; }
#ifndef EDDY_BAD
    double pullback(double, std::int64_t, double cotangent) { return 2 * cotangent; }
#endif
};

eddy::CheckpointedLoop<double, Body> loop({}, {.checkpoints = 3});
