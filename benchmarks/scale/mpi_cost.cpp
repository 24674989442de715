// What eddy::Mpi with one rank costs over its inner backend: gradients of 1,000 trajectories of about 10 us each, in turns;
// the best of each and the middle of the ratios of neighbours. Without mpirun: mpi_cost.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/backends/mpi.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"

namespace {

using support::Array;
using Clock = std::chrono::steady_clock;

template <class Solver>
double seconds_of(Solver& solver, const Array& data, const Array& y0,
                  const std::vector<double>& p) {
    const auto start = Clock::now();
    solver(data, y0, eddy::shared(p));
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    constexpr std::ptrdiff_t lanes = 1000;
    constexpr int calls = 401;
    Array y0(lanes, 2), data(1, 2, 0.25);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.5 + 0.001 * double(lane);
        y0(lane, 1) = 1;
    }
    const std::vector<double> p{1.1, 0.7};
    for (const double end : {1., 10., 40.}) {
        const eddy::SolveOptions options{.t1 = end, .rtol = 1e-8, .atol = 1e-10};
        auto alone = eddy::gradient_solver(support::Forced{}, eddy::Tsit5{}, support::HalfSquares{},
                                           options, eddy::Cpu{1});
        auto shared =
            eddy::gradient_solver(support::Forced{}, eddy::Tsit5{}, support::HalfSquares{}, options,
                                  eddy::Mpi{MPI_COMM_SELF, eddy::Cpu{1}});
        std::vector<double> ratios;
        double least[2] = {1e9, 1e9};
        for (int call = 0; call < calls; ++call) {
            const double of_alone = seconds_of(alone, data, y0, p),
                         of_shared = seconds_of(shared, data, y0, p);
            least[0] = std::min(least[0], of_alone);
            least[1] = std::min(least[1], of_shared);
            ratios.push_back(of_shared / of_alone);
        }
        std::nth_element(ratios.begin(), ratios.begin() + calls / 2, ratios.end());
        std::printf(
            "%6.2f us a trajectory: best %8.1f us by Cpu, %8.1f us by Mpi with one rank, ratio "
            "%.4f, of the middle %.4f\n",
            least[0] / lanes * 1e6, least[0] * 1e6, least[1] * 1e6, least[1] / least[0],
            ratios[calls / 2]);
    }
    MPI_Finalize();
}
