// Vectors of Thrust on its host system CPP, in every call; and that a second call takes no memory. A program of its own: it
// counts every allocation of the process.

#include <Eigen/Core>

using Here = Eigen::ArrayXXd;

#include "interop/thrust_calls.hpp"
#include "support/counting_new.hpp"

TEST_CASE("thrust: a second call on device_vectors allocates nothing") {
    using namespace thrust_calls;
    const Arrays<There> there = problem_there();
    There y0(lanes, 2), p(lanes, 2), losses(lanes, 1), states(lanes, 2);
    eddy::SolveOptions to_the_end = options;
    to_the_end.save_at = {};
    const eddy::Cpu one_thread{.threads = 1};
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, to_the_end, one_thread);
    auto gradient_solver =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, to_the_end, one_thread);
    const auto call = [&] {
        const auto y0_there = there.y0.in_place(), p_there = there.p.in_place();
        static_cast<void>(
            solver(y0_there, p_there, eddy::SolutionInto<double>{.y = states.in_place()}));
        static_cast<void>(gradient_solver(
            there.data[0].in_place(), y0_there, p_there,
            eddy::GradientInto<double>{
                .y0 = y0.in_place(), .p = p.in_place(), .loss = losses.in_place()}));
    };
    call();

    CHECK(support::allocations_of(call) == 0);
}
