// The latency of one trajectory: solve and gradient of Lorenz, called from C++ again and again,
// against a scalar loop written by hand with a hand-derived adjoint. Allocations of a call after
// the first are counted.

#include <eddy/solvers/tsit5.hpp>
#include <string>
#include <vector>

#include "hand_single.hpp"
#include "lorenz_lanes.hpp"
#include "matched_error.hpp"
#include "support/counting_new.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr int calls_a_round = 200, num_rounds = 101;
constexpr double rho = 20, rtol = 1e-6, atol = 1e-9;

void print_allocations(const char* what, std::int64_t allocations) {
    print_row(what, "0", text("%lld allocations", static_cast<long long>(allocations)), "", "");
}

/// The error of a gradient with respect to the parameters, and how many steps it took.
std::string describe(const std::vector<double>& gradient, long long num_steps) {
    static const std::vector<double> exact = reference_gradient(rho);
    return text("%.1e  (%lld steps)", relative_error(gradient, exact), num_steps);
}

template <class Backend>
void compare(const char* name, const Backend& backend) {
    eddy::EnsembleArray<double> y0(1, 3), p(1, 3);
    const eddy::EnsembleArray<double> no_data(1, 3);
    y0(0, 0) = 1;
    p(0, 0) = 10, p(0, 1) = rho, p(0, 2) = 8. / 3;
    auto solver = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{},
                                        {.t1 = 1, .rtol = rtol, .atol = atol}, backend);
    const auto& result = solver(no_data, y0, p);
    HandSingle by_hand;
    Race race;
    const int hand = race.add(calls_a_round, [&] {
        for (int call = 0; call < calls_a_round; ++call)
            kept = by_hand.value_and_gradient(rho, rtol, atol).loss;
    });
    const int ours = race.add(calls_a_round, [&] {
        for (int call = 0; call < calls_a_round; ++call) kept = solver(no_data, y0, p).loss.total;
    });
    race.run(num_rounds);

    const auto answer = by_hand.value_and_gradient(rho, rtol, atol);
    print_row(
        "hand-written scalar loop", "", nanoseconds(race.time(hand)), "",
        describe({answer.p.begin(), answer.p.end()}, static_cast<long long>(answer.num_steps)));
    print_row(text("eddy, %s", name), "<= 2", nanoseconds(race.time(ours)),
              text("%.2f", race.ratio(ours, hand)),
              describe(every_row(result.gradient.p, 1), result.report.stats(0).accepted));
    print_allocations(text("eddy, %s, a second call", name).c_str(),
                      support::allocations_of([&] { kept = solver(no_data, y0, p).loss.total; }));
}

}  // namespace

int main() {
    print_heading("One trajectory of Lorenz: solve and gradient, Tsit5, rtol 1e-6, atol 1e-9",
                  "Time per call; ratio: to the loop written by hand, with the same controller. "
                  "Medians of 101 interleaved rounds of 200 calls.");
    compare("Cpu, one thread", eddy::Cpu{.threads = 1});
    compare("Serial", eddy::Serial{});
}
