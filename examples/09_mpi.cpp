// A fit with all its starts over all ranks: each rank follows its own trajectories, and all take the same steps of the
// parameter, since loss and gradient are equal to the last bit. mpirun -n 2 example_09_mpi
#include <cmath>
#include <cstdio>
#include <cstring>
#include <eddy/backends/mpi.hpp>
#include <eddy/eddy.hpp>
#include <vector>

struct Decay {  // dy/dt = -p y
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};

int main(int argc, char** argv) {
    int provided = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    constexpr int all = 1000;
    constexpr double true_rate = 0.7;
    const int first = all * rank / ranks, mine = all * (rank + 1) / ranks - first;
    eddy::EnsembleArray<double> y0(mine, 1), data(mine, 1);
    for (int i = 0; i < mine; ++i) {
        y0(i, 0) = 1 + 0.001 * (first + i);
        data(i, 0) = y0(i, 0) * std::exp(-true_rate);
    }
    auto solver = eddy::gradient_solver(Decay{}, eddy::Tsit5{}, SquaredError{},
                                        {.t1 = 1, .rtol = 1e-10, .atol = 1e-12},
                                        eddy::Mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 1}});
    std::vector<double> rate{0.5};
    unsigned long long bits = 0;
    for (int iteration = 0; iteration < 60; ++iteration) {
        const auto& [loss, gradient, report] = solver(data, y0, eddy::shared(rate));
        rate[0] -= 0.4 / all * gradient.p(0, 0);
        std::memcpy(&bits, &rate[0], sizeof bits);
    }
    std::vector<unsigned long long> of_ranks(static_cast<std::size_t>(ranks));
    MPI_Allgather(&bits, 1, MPI_UNSIGNED_LONG_LONG, of_ranks.data(), 1, MPI_UNSIGNED_LONG_LONG,
                  MPI_COMM_WORLD);
    bool are_equal = true;
    for (const auto other : of_ranks) are_equal = are_equal && other == bits;
    if (rank == 0)
        std::printf("%d ranks: rate %.12f, bits %016llx, %s\n", ranks, rate[0], bits,
                    are_equal ? "equal on all" : "not equal");
    MPI_Finalize();
    return are_equal && std::abs(rate[0] - true_rate) < 1e-8 ? 0 : 1;
}
