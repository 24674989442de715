#include "interop/thrust_on_host.hpp"

#include <eddy/solve/call/steady_state.hpp>

#include "interop/thrust_results.hpp"
#include "support/steady_equations.hpp"

namespace thrust_calls {

namespace {

const eddy::Cpu cpu;

eddy::SolveOptions to_the_end() {
    eddy::SolveOptions one = options;
    one.save_at = {};
    return one;
}
template <class A>
std::vector<Array> all_results_of(const Arrays<A>& of) {
    std::vector<Array> all = results(of, cpu);
    all.push_back(Array(
        eddy::steady_state(support::Switch{}, of.y0, of.p, eddy::SteadyStateOptions{}, cpu).y()));
    return all;
}

}  // namespace

std::vector<Array> all_results(const Arrays<Eigen::ArrayXXd>& of) { return all_results_of(of); }
std::vector<Array> all_results(const Arrays<View>& of) { return all_results_of(of); }

void write_results(const Arrays<View>& of, const Outputs& into) {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, to_the_end(), cpu);
    auto gradient_solver =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, to_the_end(), cpu);
    static_cast<void>(solver(of.y0, of.p, eddy::SolutionInto<double>{.y = into.y}));
    static_cast<void>(
        gradient_solver(of.data[0], of.y0, of.p,
                        eddy::GradientInto<double>{.y0 = into.y0, .p = into.p, .loss = into.loss}));
}
std::vector<Array> results_to_write(const Arrays<Eigen::ArrayXXd>& of) {
    const auto solution = eddy::solve(Forced{}, eddy::Bosh3{}, of.y0, of.p, to_the_end(), cpu);
    const auto [loss, gradient, report] = eddy::value_and_gradient(
        Forced{}, eddy::Bosh3{}, HalfSquares{}, of.data[0], of.y0, of.p, to_the_end(), cpu);
    Array losses(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) losses(lane, 0) = loss(lane);
    return {Array(solution.y()), Array(gradient.y0), Array(gradient.p), losses};
}

}  // namespace thrust_calls
