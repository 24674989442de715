// expect: CheckpointedLoop: the body's advance must be const, because it is called again for the same step
#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>

struct Body {
#ifdef EDDY_BAD
    double advance(double x, std::int64_t) { return 2 * x; }
#else
    double advance(double x, std::int64_t) const { return 2 * x; }
#endif
    double pullback(double, std::int64_t, double cotangent) { return 2 * cotangent; }
};

eddy::CheckpointedLoop<double, Body> loop({}, {.checkpoints = 3});
