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
#include <eddy/backends/tiles.hpp>
#include <eddy/interop/train/minibatches.hpp>
#include <eddy/interop/train/rank_checkpoint.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
#include <limits>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include "solve/emulated_device.hpp"
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

/// Trajectories end where the first component falls below a bound.
struct ToCrossing : Forced {
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0] - 0.25; }
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

/// Takes in bits.
std::uint64_t hash = 0xcbf29ce484222325u;
void add_to_hash(double number) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001b3u;
}

/// What a call gives: sums over all trajectories, and rows of each of them.
struct Numbers {
    std::vector<double> sums;
    std::vector<Array> rows;
};
template <class Result>
Numbers of_gradient(const Result& result) {
    Numbers numbers{{result.loss.total_of_successful, result.loss.mean_of_successful,
                     static_cast<double>(result.loss.num_successful)},
                    {result.gradient.y0}};
    for (std::ptrdiff_t i = 0; i < result.gradient.p.cols(); ++i)
        numbers.sums.push_back(result.gradient.p(0, i));
    return numbers;
}

/// A call by one thread of one machine, and over ranks by a backend with one thread, two and three: the same bits in
/// each division.
template <class Call, class Inner>
void compare(const char* name, const Call& call, const Array& all, Inner inner,
             bool device_messages = true) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const Numbers wanted = call(all, eddy::Cpu{.threads = 1});
    constexpr bool has_threads = requires { inner.threads; };
    for (int way = 0; way < 3; ++way) {
        const auto [first, count] = share(all.rows(), way, rank, ranks);
        for (int run = 0; run < (has_threads ? 6 : 1); ++run) {
            const int threads = 1 + run % 3;
            const bool steals = run >= 3;
            if constexpr (has_threads) inner.threads = threads;
            const Numbers got =
                call(rows_of(all, first, count),
                     eddy::Mpi{MPI_COMM_WORLD, inner, 300., device_messages, steals});
            const std::string what = std::string(name) + " in division " + std::to_string(way) +
                                     " by threads " + std::to_string(threads) +
                                     (steals ? ", stealing" : "");
            check(got.sums.size() == wanted.sums.size() && got.rows.size() == wanted.rows.size(),
                  what);
            for (std::size_t k = 0; k < wanted.sums.size(); ++k)
                check(same_bits(got.sums[k], wanted.sums[k]), what + ": sum " + std::to_string(k));
            for (std::size_t k = 0; k < wanted.rows.size(); ++k)
                check(same_array(got.rows[k], rows_of(wanted.rows[k], first, count)),
                      what + ": rows");
        }
    }
    for (const double sum : wanted.sums) add_to_hash(sum);
}

void compare_calls() {
    const Array all = some(700), row(1, 2, 0.3), data(1, 2, 0.25);
    const auto gradient = [&](const Array& y0, const auto& backend) {
        return of_gradient(eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data,
                                                    y0, eddy::shared(theta), options, backend));
    };
    compare("gradient by Cpu", gradient, all, eddy::Cpu{});
    compare("gradient by Tiles", gradient, all, eddy::Tiles{});
    compare("gradient by the emulated device", gradient, all, support::EmulatedDevice{});
    compare("gradient by the emulated device, added on the host", gradient, all,
            support::EmulatedDevice{}, false);

    const auto forward = [&](const Array& y0, const auto& backend) {
        const auto pushed = eddy::pushforward(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), y0,
                                              eddy::shared(row), options, backend);
        return Numbers{{}, {Array(pushed.y()), Array(pushed.tangent())}};
    };
    compare("tangents", forward, all, eddy::Cpu{});

    const auto pulled = [&](const Array& y0, const auto& backend) {
        const auto solution =
            eddy::solve(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), options, backend);
        const auto back = eddy::pullback(solution, Array(1, 2, 0.5));
        return Numbers{{back.gradient.p(0, 0), back.gradient.p(0, 1)},
                       {Array(solution.y()), back.gradient.y0}};
    };
    compare("a solution and its pullback", pulled, all, eddy::Cpu{});

    const auto again = [&](const Array& y0, const auto& backend) {
        auto solver =
            eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
        static_cast<void>(solver(data, y0, eddy::shared(std::vector<double>{1, 1})));
        return of_gradient(solver(data, y0, eddy::shared(theta)));
    };
    compare("the second call of a solver object", again, all, eddy::Cpu{});

    const auto product = [&](const Array& y0, const auto& backend) {
        const auto result = eddy::hessian_vector_product(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                                         data, y0, eddy::shared(theta), y0,
                                                         eddy::shared(row), options, backend);
        Numbers numbers = of_gradient(result);
        for (std::ptrdiff_t i = 0; i < 2; ++i) numbers.sums.push_back(result.product.p(0, i));
        numbers.rows.push_back(result.product.y0);
        return numbers;
    };
    compare("Hessian product", product, all, eddy::Cpu{});

    const auto events = [&](const Array& y0, const auto& backend) {
        return of_gradient(eddy::value_and_gradient(ToCrossing{}, eddy::Bosh3{}, HalfSquares{},
                                                    data, y0, eddy::shared(theta), options,
                                                    backend));
    };
    compare("gradient through events", events, all, eddy::Cpu{});

    // Paths are numbered over all ranks.
    const std::vector<double> rate{0.5};
    const eddy::SolveOptions noisy{.t1 = 1, .dt0 = 0.1, .seed = 3, .paths = 4};
    const auto paths = [&](const Array& y0, const auto& backend) {
        return of_gradient(eddy::value_and_gradient(Walk{}, eddy::EulerMaruyama{}, HalfSquares{},
                                                    Array(1, 1, 0.5), y0, eddy::shared(rate), noisy,
                                                    backend));
    };
    compare("gradient of paths", paths, Array(200, 1, 1.), eddy::Cpu{});
}

/// Solutions stay where they are, until they are gathered: then each rank has all.
void gather(int rank, int ranks) {
    const Array all = some(1500);
    auto saved = options;
    saved.save_at = {0.5, 1, 1.5, 2};
    saved.save_steps = true;
    const auto wanted = eddy::solve(ToCrossing{}, eddy::Bosh3{}, all, eddy::shared(theta), saved,
                                    eddy::Cpu{.threads = 1});
    for (int way = 0; way < 3; ++way) {
        const auto [first, count] = share(all.rows(), way, rank, ranks);
        const auto own =
            eddy::solve(ToCrossing{}, eddy::Bosh3{}, rows_of(all, first, count),
                        eddy::shared(theta), saved, eddy::Mpi{MPI_COMM_WORLD, eddy::Cpu{1}});
        check(own.num_lanes() == count, "rows of this rank");
        const auto got = eddy::gathered(own);
        check(got.num_lanes() == all.rows() && got.num_saves() == 4, "all rows");
        for (std::ptrdiff_t k = 0; k < 4; ++k) check(same_array(got.y(k), wanted.y(k)), "states");
        for (std::ptrdiff_t lane = 0; lane < all.rows(); ++lane) {
            check(got.result(lane) == wanted.result(lane), "results");
            check(got.stats(lane).accepted == wanted.stats(lane).accepted &&
                      got.stats(lane).events == wanted.stats(lane).events,
                  "statistics");
            check(same_bits(got.event_t(lane), wanted.event_t(lane)), "times of events");
            const std::ptrdiff_t last = wanted.num_steps(lane) - 1;
            check(got.num_steps(lane) == last + 1 &&
                      same_bits(got.step_y(lane, last, 1), wanted.step_y(lane, last, 1)),
                  "steps");
        }
        check(eddy::gathered(got).num_lanes() == all.rows(), "what is gathered stays so");
    }
    check(eddy::gathered(wanted).num_lanes() == all.rows(), "without ranks it is a copy");
}

/// A training of minibatches, taken up again half-way from a file of the first rank.
void train(int rank) {
    const Array all = some(300), data(1, 2, 0.25);
    const std::string path = "ranks_training.bin";
    const auto trained = [&](const auto& backend, bool is_interrupted) {
        std::vector<double> p(theta);
        eddy::train::Minibatches batches(300, 100, 5);
        eddy::train::Optimizer<eddy::train::Adam, double> adam({.learning_rate = 0.05}, p.size());
        for (std::int64_t step = 0; step < 6; ++step) {
            const auto samples = batches(step);
            const auto [first, count] = eddy::rank_rows(backend, std::ssize(samples));
            Array y0(count, 2);
            for (std::ptrdiff_t i = 0; i < count; ++i) {
                for (std::ptrdiff_t c = 0; c < 2; ++c)
                    y0(i, c) = all(samples[static_cast<std::size_t>(first + i)], c);
            }
            auto result = eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, y0,
                                                   eddy::shared(p), options, backend);
            adam.step(p, result.gradient.p);
            if (!is_interrupted || step != 2) continue;
            eddy::train::save_checkpoint(path, p, adam, backend);
            p = {rank + 1., -1};  // as of a program that begins
            adam = eddy::train::Optimizer<eddy::train::Adam, double>({.learning_rate = 0.05},
                                                                     p.size());
            eddy::train::load_checkpoint(path, p, adam, backend);
            check(adam.num_steps() == 3, "steps of a training that is taken up again");
            eddy::on_first_rank(backend, [&] { std::remove(path.c_str()); });
        }
        return p;
    };
    const auto wanted = trained(eddy::Cpu{.threads = 1}, false);
    const eddy::Mpi mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 1}};
    for (const bool is_interrupted : {false, true}) {
        const auto got = trained(mpi, is_interrupted);
        for (std::size_t i = 0; i < got.size(); ++i)
            check(same_bits(got[i], wanted[i]), "trained parameters");
    }
    std::vector<double> p(theta);
    eddy::train::Optimizer<eddy::train::Adam, double> adam({}, p.size());
    const std::string told =
        said_by([&] { eddy::train::load_checkpoint("/nowhere/at/all", p, adam, mpi); });
    check(told.find("/nowhere/at/all") != std::string::npos && p == theta,
          "a file that is not there: " + told);
}

/// Rows of the next call by the steps of this one: nobody has much more to do than others.
void balance(int rank, int ranks) {
    const Array all = some(4096);
    auto slow = options;
    slow.max_steps = 100'000;
    const eddy::Mpi mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 1}};
    // The last eighth takes 30 times as many steps or so: it begins far out.
    Array y0 = all;
    for (std::ptrdiff_t lane = 4096 / 8 * 7; lane < 4096; ++lane) y0(lane, 0) = 4e4;
    eddy::RankRows rows = eddy::rank_rows(mpi, y0.rows());
    std::int64_t most[2], sum[2];
    for (int call = 0; call < 2; ++call) {
        const auto solution =
            eddy::solve(Forced{}, eddy::Bosh3{}, rows_of(y0, rows.first, rows.count),
                        eddy::shared(theta), slow, mpi);
        const auto stats = solution.total_stats();
        std::int64_t steps = stats.accepted + stats.rejected;
        MPI_Allreduce(&steps, &most[call], 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&steps, &sum[call], 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        rows = eddy::rank_rows(mpi, solution, 8);
        check(rows.first % 8 == 0, "rows are cut at multiples");
    }
    const auto excess = [&](int call) {
        return static_cast<double>(most[call] * ranks) / static_cast<double>(sum[call]);
    };
    if (rank == 0)
        std::printf("%d ranks: the slowest has %.3f times the mean by count, %.3f by steps\n",
                    ranks, excess(0), excess(1));
    check(sum[0] == sum[1], "the same steps, wherever they are taken");
    check(excess(1) < 1.1, "ranks have as many steps each");
    check(ranks == 1 || excess(0) > 1.5, "which they have not by count");
}

/// The last eighth takes 30 times as many steps or so.
Array unevenly_dear() {
    Array all = some(4096);
    for (std::ptrdiff_t lane = 4096 / 8 * 7; lane < 4096; ++lane) all(lane, 0) = 4e4;
    return all;
}
eddy::SolveOptions dear_options() {
    auto slow = options;
    slow.max_steps = 100'000;
    slow.stable_gradients = false;  // those that are solved again would be added apart
    return slow;
}

/// Rows that ranks take from each other give the sums of one call, and costs are balanced.
void steal(int rank, int ranks) {
    const Array data(1, 2, 0.25), all = unevenly_dear();
    const auto slow = dear_options();
    auto solver = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, slow,
                                        eddy::Cpu{.threads = 1});
    std::int64_t steps = 0, most = 0, sum = 0;
    const auto sums_of = [&](const eddy::RankRows& rows) {
        const auto& result =
            solver(data, rows_of(all, rows.first, rows.count), eddy::shared(theta));
        for (const auto& lane : result.report.outcomes()) steps += lane.accepted + lane.rejected;
        return std::vector{result.loss.total, result.gradient.p(0, 0), result.gradient.p(0, 1)};
    };
    const auto wanted = sums_of({0, all.rows()});
    steps = 0;
    const auto got = eddy::sum_by_stealing(eddy::Mpi{MPI_COMM_WORLD}, all.rows(), sums_of, 64);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        check(same_bits(got[i], wanted[i]), "a sum of rows that were taken");
    MPI_Allreduce(&steps, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&steps, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d ranks: the slowest has %.3f times the mean by stealing\n", ranks,
                    static_cast<double>(most * ranks) / static_cast<double>(sum));
}

/// The same by the option of a call, of trajectories that only one rank has.
void steal_in_call(int rank, int ranks) {
    const Array data(1, 2, 0.25), y0 = unevenly_dear();
    const auto solve = [&](const Array& own, const auto& backend) {
        return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, own,
                                        eddy::shared(theta), dear_options(), backend);
    };
    const auto wanted = solve(y0, eddy::Cpu{.threads = 1});
    const auto [first, count] = share(y0.rows(), 0, rank, ranks);
    std::int64_t most[2], sum[2];
    for (const bool steals : {false, true}) {
        const auto got = solve(rows_of(y0, first, count),
                               eddy::Mpi{MPI_COMM_WORLD, eddy::Serial{}, 300., true, steals});
        check(same_bits(got.loss.total, wanted.loss.total) &&
                  same_array(got.gradient.p, wanted.gradient.p) &&
                  same_array(got.gradient.y0, rows_of(wanted.gradient.y0, first, count)),
              "a gradient of trajectories that were taken");
        for (std::ptrdiff_t lane = 0; lane < count; ++lane)
            check(got.report.stats(lane).accepted == wanted.report.stats(first + lane).accepted,
                  "steps of trajectories that were taken");
        std::int64_t done = got.report.counters.pullbacks;  // here
        MPI_Allreduce(&done, &most[steals], 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&done, &sum[steals], 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    const auto excess = [&](bool steals) {
        return static_cast<double>(most[steals] * ranks) / static_cast<double>(sum[steals]);
    };
    if (rank == 0)
        std::printf(
            "%d ranks: the slowest has %.3f times the mean by count, %.3f by stealing in a call\n",
            ranks, excess(false), excess(true));
    check(sum[0] == sum[1], "the same steps, whoever takes them");
    check(ranks == 1 || excess(true) < excess(false), "ranks that steal are better balanced");
}

void fail(int rank, int ranks, bool steals) {
    const eddy::Mpi mpi{MPI_COMM_WORLD, eddy::Cpu{.threads = 1}, 300., true, steals};
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

/// Trajectories stay on a device.
void refuse() {
    check(said_by([&] {
              static_cast<void>(eddy::solve(
                  Forced{}, eddy::Bosh3{}, some(9), eddy::shared(theta), options,
                  eddy::Mpi{MPI_COMM_WORLD, support::EmulatedDevice{}, 300., true, true}));
          }) ==
              "Mpi: stealing = true with an inner backend on a device, whose trajectories stay "
              "there; leave it out",
          "a device that steals");
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0, rank = 0, ranks = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    support::DevicePages::are_kept_open = true;  // whatever MPI does there
    compare_calls();
    if (rank == 0)
        std::printf("%d ranks: loss and shared gradient %016llx\n", ranks,
                    static_cast<unsigned long long>(hash));
    gather(rank, ranks);
    train(rank);
    balance(rank, ranks);
    steal(rank, ranks);
    steal_in_call(rank, ranks);
    for (const bool steals : {false, true}) fail(rank, ranks, steals);
    refuse();
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
