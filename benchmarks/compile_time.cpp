// What compile_time.py compiles, once for each compiler and equation: f and its vector–Jacobian
// product, evaluated; by nvcc in a kernel. Run, it prints the numbers of nodes and a
// component of each result.

#include <cstdio>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>

#include "support/equations.hpp"

namespace {

using Field = support::EQUATION;
using Program = eddy::FieldProgram<Field>;
using Pullback = decltype(eddy::vjp<1, 2>(Program{}));
constexpr int state_size = Field::state_size;
constexpr int parameter_size = Field::parameter_size > 0 ? Field::parameter_size : 1;

struct Lane {
    double y[state_size], p[parameter_size];
    double dy[state_size], y_cotangent[state_size], p_cotangent[parameter_size];
};

template <class Real>
EDDY_HD void evaluate_lane(Lane& lane, Real t) {
    eddy::evaluate<Program, Real>(
        [&]<int output>(int component, const Real& value)
            __attribute__((always_inline)) { lane.dy[component] = value; },
        t, lane.y, lane.p);
    eddy::evaluate<Pullback, Real>(
        [&]<int output>(int component, const Real& value) __attribute__((always_inline)) {
            (output == 0 ? lane.y_cotangent : lane.p_cotangent)[component] = value;
        },
        t, lane.y, lane.p, lane.dy);
}

}  // namespace

#if defined(__CUDACC__)

__global__ void evaluate_lanes(Lane* lanes, int num_lanes, double t) {
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane < num_lanes) evaluate_lane(lanes[lane], t);
}

#else

int main(int count, char**) {
    static Lane lane{};
    for (int i = 0; i < state_size; ++i) lane.y[i] = i + count;
    evaluate_lane(lane, 0.0);
    std::printf("%d %d %g %g\n", Program::graph.size(), Pullback::graph.size(), lane.dy[0],
                lane.y_cotangent[0]);
}

#endif
