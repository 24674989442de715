// A program of its own: it lets allocations fail, and counts what a first call takes.
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "support/catch.hpp"
#include "support/failing_allocations.hpp"
#include "support/message_of.hpp"

using eddy::Bosh3;
using eddy::Cpu;
using eddy::EnsembleArray;
using eddy::SolveOptions;

namespace {

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0] * y[0]);
    }
};

struct Squared {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return (y[0] - data[0]) * (y[0] - data[0]);
    }
};

constexpr int lanes = 90;  // more than one group, and lanes that wait

EnsembleArray<double> rising(double first, double last) {
    EnsembleArray<double> values(lanes, 1);
    for (int lane = 0; lane < lanes; ++lane)
        values(lane, 0) = first + (last - first) * lane / lanes;
    return values;
}

struct Problem {
    EnsembleArray<double> y0 = rising(1, 2), p = rising(0.1, 5), data = rising(0.3, 0.4);
};

void append(std::vector<double>& values, const EnsembleArray<double>& array) {
    values.insert(values.end(), array.data(), array.data() + array.rows() * array.cols());
}
template <class Real>
void append(std::vector<double>& values, const eddy::EnsembleView<Real>& view) {
    append(values, EnsembleArray<double>(eddy::EnsembleView<const double>{
                       view.first, view.num_lanes, view.num_components, view.lane_stride,
                       view.component_stride}));
}
std::vector<double> numbers(const eddy::ValueAndGradient<double>& result) {
    std::vector<double> all = result.loss.of_lane;
    append(all, result.gradient.y0);
    append(all, result.gradient.p);
    for (int lane = 0; lane < lanes; ++lane)
        all.push_back(static_cast<double>(result.report.stats(lane).accepted));
    return all;
}

void check(const support::FailedAllocations& found) {
    CHECK(found.failures >= 10);  // a call makes as many allocations, and more
    CHECK(found.exceptions > 0);
    CHECK(found.wrong == 0);
    CHECK(found.leaked == 0);
}

// A call on a kept object, on one thread and on two.
template <class Make, class Call>
void check_kept(const Make& make, const Call& call) {
    for (const int threads : {1, 2}) {
        for (const bool all_later_too : {false, true}) {
            INFO(threads << " threads, all later allocations fail too: " << all_later_too);
            check(support::fail_each_allocation([&] { return make(Cpu{threads}); }, call,
                                                all_later_too));
        }
    }
}

}  // namespace

TEST_CASE("failing allocations: the next solve of a solver is exact") {
    const Problem problem;
    check_kept(
        [](Cpu cpu) {
            return eddy::ensemble_solver(
                Decay{}, Bosh3{},
                {.t1 = 1, .rtol = 1e-3, .save_at = {0.3, 1.0}, .save_steps = true}, cpu);
        },
        [&](auto& solver) {
            const auto& solution = solver(problem.y0, problem.p);
            std::vector<double> all;
            append(all, solution.y(0));
            append(all, solution.y(1));
            for (int lane = 0; lane < lanes; ++lane) {
                for (std::ptrdiff_t k = 0; k < solution.num_steps(lane); ++k)
                    all.push_back(solution.step_t(lane, k) + solution.step_y(lane, k, 0));
            }
            return all;
        });
}

TEST_CASE("failing allocations: the next gradient of a solver is exact") {
    const Problem problem;
    // Everything stored; then a log that ends early, and states that are computed again.
    const std::size_t budget = GENERATE(std::size_t{1} << 28, std::size_t{1} << 14);
    check_kept(
        [&](Cpu cpu) {
            return eddy::gradient_solver(Decay{}, Bosh3{}, Squared{},
                                         {.t1 = 1, .rtol = 1e-5, .memory_budget = budget}, cpu);
        },
        [&](auto& solver) { return numbers(solver(problem.data, problem.y0, problem.p)); });
}

TEST_CASE("failing allocations: the next pullback is exact") {
    const Problem problem;
    const auto solution = eddy::solve(Decay{}, Bosh3{}, problem.y0, problem.p, {.t1 = 1}, Cpu{2});
    for (const bool all_later_too : {false, true}) {
        check(support::fail_each_allocation(
            [&] {
                const auto gradient = eddy::pullback(solution, problem.data);
                std::vector<double> all;
                append(all, gradient.y0);
                append(all, gradient.p);
                return all;
            },
            all_later_too));
    }
}

TEST_CASE("failing allocations: the next pushforward and Hessian product are exact") {
    const Problem problem;
    const SolveOptions options{.t1 = 1, .rtol = 1e-5};
    check_kept([&](Cpu cpu) { return eddy::ensemble_solver(Decay{}, Bosh3{}, options, cpu); },
               [&](auto& solver) {
                   std::vector<double> all;
                   append(all, solver(problem.y0, problem.p, problem.data, problem.p).tangent(0));
                   return all;
               });
    check_kept(
        [&](Cpu cpu) { return eddy::gradient_solver(Decay{}, Bosh3{}, Squared{}, options, cpu); },
        [&](auto& solver) {
            const auto result = solver.hessian_vector_product(problem.data, problem.y0, problem.p,
                                                              problem.data, problem.p);
            std::vector<double> all;
            append(all, result.gradient.p);
            append(all, result.product.y0);
            append(all, result.product.p);
            return all;
        });
}

TEST_CASE("failing allocations: what a call returns has its memory before the work") {
    const Problem problem;
    // Bytes taken after the watch, which begins before all results are made and ends with the work.
    struct Watched {
        std::int64_t* at_end;
        ~Watched() { *at_end = support::allocated_bytes; }
    };
    std::int64_t at_end = 0;
    const SolveOptions options{.t1 = 1, .rtol = 1e-5, .progress = [&](const eddy::WatchedCall&) {
                                   return std::shared_ptr<Watched>(new Watched{&at_end});
                               }};
    const auto taken = [&] { return support::allocated_bytes - at_end; };
    constexpr std::int64_t one_array = lanes * sizeof(double);

    const auto solution = eddy::solve(Decay{}, Bosh3{}, problem.y0, problem.p, options, Cpu{1});
    CHECK(taken() < one_array);
    CHECK(solution.p()(lanes - 1, 0) == problem.p(lanes - 1, 0));

    const auto gradient = eddy::value_and_gradient(Decay{}, Bosh3{}, Squared{}, problem.data,
                                                   problem.y0, problem.p, options, Cpu{1});
    CHECK(taken() < one_array);
    const auto product =
        eddy::hessian_vector_product(Decay{}, Bosh3{}, Squared{}, problem.data, problem.y0,
                                     problem.p, problem.y0, problem.p, options, Cpu{1});
    CHECK(taken() < one_array);
    CHECK(product.gradient.p(7, 0) == gradient.gradient.p(7, 0));
    const auto estimated =
        eddy::value_and_gradient(Decay{}, Bosh3{}, Squared{}, problem.data, problem.y0, problem.p,
                                 options, Cpu{1}, eddy::estimate_gradient_error);
    CHECK(taken() < one_array);
    CHECK(estimated.report.gradient_error(7) < 1);
}

TEST_CASE("failing allocations: no number of checkpoints and no budget takes memory unused") {
    const Problem problem;
    const auto bytes_of_first = [&](const SolveOptions& options) {
        auto solver = eddy::gradient_solver(Decay{}, Bosh3{}, Squared{}, options, Cpu{1});
        const std::int64_t before = support::allocated_bytes;
        const auto& result = solver(problem.data, problem.y0, problem.p);
        CHECK(result.report.counters.recomputed == 0);
        return support::allocated_bytes - before;
    };
    constexpr std::int64_t bound = 512 << 10;  // 4095 slots of the stack are 96 KiB

    CHECK(bytes_of_first({.t1 = 1}) < bound);
    CHECK(bytes_of_first({.t1 = 1, .memory_budget = std::size_t{1} << 63}) < bound);
    CHECK(bytes_of_first({.t1 = 1, .memory_budget = std::numeric_limits<std::size_t>::max()}) <
          bound);
    CHECK(bytes_of_first({.t1 = 1, .checkpoints = 1 << 28}) < bound);
    CHECK(bytes_of_first({.t1 = 1, .checkpoints = 2'147'483'646}) < bound);
    CHECK_THROWS_AS(bytes_of_first({.t1 = 1, .checkpoints = std::int64_t{1} << 31}),
                    eddy::InvalidArgument);
}

// A test of its own runs it where the address space is limited (CMakeLists.txt); elsewhere nothing bounds it.
TEST_CASE("failing allocations: a limit of address space bounds the budget") {
    const Problem problem;
    const auto gradient = eddy::value_and_gradient(Decay{}, Bosh3{}, Squared{}, problem.data,
                                                   problem.y0, problem.p, {.t1 = 1}, Cpu{2});
    CHECK(gradient.report.success());

    eddy::detail::ArenaMemory memory;
    CHECK(support::mentions(support::message_of([&] {
                                static_cast<void>(
                                    memory.arena(std::numeric_limits<std::size_t>::max() >> 1));
                            }),
                            "give a smaller memory_budget"));
}
