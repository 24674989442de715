// Run by mpirun, on 1 to 4 ranks: eddy::Mpi has the bits of Cpu on one machine, and a rank that fails ends the call on all. Each
// rank computes what one machine would, and compares. Says what is wrong, and returns 1; a rank that waits for ever is the time-out's.

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <eddy/backends/mpi.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <limits>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include "solve/problems.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::same_array;
using support::same_bits;

int failures = 0;
void check(bool holds, const std::string& claim) {
    if (holds) return;
    ++failures;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: not so: %s\n", rank, claim.c_str());
}

struct Walk {  // dy = −p y dt + 0.1 dW
    static constexpr int state_size = 1, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(0. - p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::vec(0.1 + 0. * y[0]);
    }
};

const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-4, .atol = 1e-6, .max_steps = 24};
const std::vector<double> theta{1.1, 0.7};

Array some(std::ptrdiff_t lanes) {
    Array y0(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.1 + 0.1 * double(lane % 17);
        y0(lane, 1) = 1.5 - 0.003 * double(lane % 131);
    }
    return y0;
}
Array rows_of(const Array& all, std::ptrdiff_t first, std::ptrdiff_t count) {
    return Array(
        eddy::EnsembleView<const double>{all.data() + first, count, all.cols(), 1, all.rows()});
}

/// Where this rank's rows begin, and how many there are, in three divisions.
std::pair<std::ptrdiff_t, std::ptrdiff_t> share(std::ptrdiff_t lanes, int way, int rank,
                                                int ranks) {
    const auto begin = [&](std::ptrdiff_t r) {
        if (r == ranks) return lanes;
        if (way == 0) return lanes * r / ranks;
        if (way == 1) return std::min(lanes, 64 * r);
        return r == 0 ? std::ptrdiff_t{0} : lanes - 3 * (ranks - r);
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
}

void compare(int rank, int ranks) {
    const std::ptrdiff_t lanes = 700;
    const Array all = some(lanes);
    const auto wanted =
        eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, Array(1, 2, 0.25), all,
                                 eddy::shared(theta), options, eddy::Cpu{.threads = 1});
    const auto solved = eddy::solve(Forced{}, eddy::Bosh3{}, all, eddy::shared(theta), options,
                                    eddy::Cpu{.threads = 1});
    std::uint64_t hash = 0;
    for (int way = 0; way < 3; ++way) {
        const auto [first, count] = share(lanes, way, rank, ranks);
        const Array mine = rows_of(all, first, count);
        for (int threads = 1; threads <= 3; ++threads) {
            const eddy::Mpi mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = threads}};
            const auto got =
                eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, Array(1, 2, 0.25),
                                         mine, eddy::shared(theta), options, mpi);
            check(same_bits(got.loss.total_of_successful, wanted.loss.total_of_successful), "loss");
            check(got.loss.num_successful == wanted.loss.num_successful, "count");
            check(same_array(got.gradient.p, wanted.gradient.p), "shared gradient");
            check(same_array(got.gradient.y0, rows_of(wanted.gradient.y0, first, count)), "rows");
            hash = std::bit_cast<std::uint64_t>(got.gradient.p(0, 0)) ^
                   (std::bit_cast<std::uint64_t>(got.loss.total_of_successful) << 1);
            const auto solution =
                eddy::solve(Forced{}, eddy::Bosh3{}, mine, eddy::shared(theta), options, mpi);
            for (std::ptrdiff_t lane = 0; lane < count; ++lane)
                check(solution.result(lane) == solved.result(first + lane), "result");
        }
    }
    if (rank == 0)
        std::printf("%d ranks: loss and shared gradient %016llx\n", ranks,
                    static_cast<unsigned long long>(hash));
}

/// Paths are numbered over all ranks.
void compare_paths(int rank, int ranks) {
    const eddy::SolveOptions noisy{.t1 = 1, .dt0 = 0.1, .seed = 3, .paths = 4};
    const Array all(40, 1, 1.);
    const std::vector<double> rate{0.5};
    const auto wanted =
        eddy::solve(Walk{}, eddy::EulerMaruyama{}, all, eddy::shared(rate), noisy, eddy::Serial{});
    const auto [first, count] = share(40, 0, rank, ranks);
    const auto got =
        eddy::solve(Walk{}, eddy::EulerMaruyama{}, rows_of(all, first, count), eddy::shared(rate),
                    noisy, eddy::Mpi{MPI_COMM_WORLD, eddy::Serial{}});
    for (std::ptrdiff_t lane = 0; lane < count; ++lane)
        check(same_bits(got.mean(0)(lane, 0), wanted.mean(0)(first + lane, 0)), "mean of paths");
}

/// What is thrown, in words.
template <class Call>
std::string said_by(const Call& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

void fail(int rank, int ranks) {
    const eddy::Mpi mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 1}};
    for (int failing = 0; failing < ranks; ++failing) {
        const auto call = [&](const Array& y0, const eddy::SolveOptions& asked) {
            return said_by([&] {
                static_cast<void>(eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                                           Array(1, 2, 0.25), y0,
                                                           eddy::shared(theta), asked, mpi));
            });
        };
        const bool fails = rank == failing;
        const std::string who = "rank " + std::to_string(failing);

        Array bad = some(9);
        if (fails) bad(3, 1) = std::numeric_limits<double>::quiet_NaN();
        const std::string own = "value_and_gradient: y0(3, 1) = nan; give finite numbers";
        check(call(bad, options) ==
                  (fails ? own : "value_and_gradient: " + who + " has ended the call: " + own),
              "a bad argument of " + who);

        auto other = options;
        if (fails) other.rtol = 1e-3;
        if (ranks > 1) {
            const std::string differs = call(some(9), other);
            check(differs.find("has been given other options than rank 0") != std::string::npos,
                  "other options of " + who + ": " + differs);
        }

        // In the middle of long work: all others leave theirs.
        auto thrown = options;
        thrown.rtol = 1e-12;
        thrown.max_steps = 1'000'000;
        thrown.t1 = 3000;
        if (fails) thrown.poll = []() -> bool { throw std::bad_alloc(); };
        const std::string told = call(some(2000), thrown);
        check(
            told == (fails ? "std::bad_alloc"
                           : "value_and_gradient: " + who + " has ended the call: std::bad_alloc"),
            "an exception at work of " + who + ": " + told);

        auto cancelled = thrown;
        cancelled.poll = nullptr;
        if (fails) cancelled.poll = [] { return false; };
        check(call(some(2000), cancelled).empty(), "a cancelled call returns");
        check(call(some(9), options).empty(), "the next call is a good one");
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    compare(rank, ranks);
    compare_paths(rank, ranks);
    fail(rank, ranks);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
