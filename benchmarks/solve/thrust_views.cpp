// What calls cost on vectors of Thrust by `view`, against the same calls on raw pointers: both are made anew for each call, as a
// program makes them.

#include <thrust/device_vector.h>

#include <eddy/interop/thrust.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "lorenz_lanes.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr int num_rounds = 201;
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-6, .atol = 1e-9};

/// Both arms call the same functions: arrays(vector, components) says how.
template <class Arrays>
std::function<void()> calls_on(std::ptrdiff_t num_lanes, int calls, const Arrays& arrays) {
    using Vector = thrust::device_vector<double>;
    const LorenzLanes<double> lanes(num_lanes);
    const eddy::Cpu one_thread{.threads = 1};
    return [=, solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, one_thread),
            gradient_solver =
                eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, SquaredNorm{}, options, one_thread),
            y0 = Vector(lanes.y0.begin(), lanes.y0.end()),
            p = Vector(lanes.p.begin(), lanes.p.end()), no_data = Vector(3),
            y = Vector(lanes.y0.size()), of_p = Vector(lanes.p.size())]() mutable {
        for (int call = 0; call < calls; ++call) {
            static_cast<void>(solver(arrays(y0, num_lanes, 3), arrays(p, num_lanes, 3),
                                     eddy::SolutionInto<double>{.y = arrays(y, num_lanes, 3)}));
            kept = gradient_solver(arrays(no_data, 1, 3), arrays(y0, num_lanes, 3),
                                   arrays(p, num_lanes, 3),
                                   eddy::GradientInto<double>{.p = arrays(of_p, num_lanes, 3)})
                       .loss.total;
        }
    };
}

void compare(std::ptrdiff_t num_lanes) {
    const int calls = static_cast<int>(std::max<std::ptrdiff_t>(1, 400 / num_lanes));
    const double work = static_cast<double>(calls * num_lanes);
    Race race;
    const int pointers = race.add(
        work, calls_on(num_lanes, calls, [](auto& vector, std::ptrdiff_t lanes, int components) {
            return eddy::EnsembleView<double>{vector.data().get(), lanes, components, 1, lanes};
        }));
    const int views = race.add(
        work, calls_on(num_lanes, calls, [](auto& vector, std::ptrdiff_t lanes, int components) {
            return eddy::view(vector, lanes, components);
        }));
    race.run(num_rounds);
    const std::string which = text("%lld lanes, ", static_cast<long long>(num_lanes));
    print_row(which + "raw pointers", "", nanoseconds(race.time(pointers)), "1.00", "");
    print_row(which + "view", "", nanoseconds(race.time(views)),
              text("%.3f", race.ratio(views, pointers)), "at most 1.02");
}

}  // namespace

int main() {
    print_heading("Vectors of Thrust: a solve and a gradient of Lorenz, Tsit5, rtol 1e-6",
                  "Time per lane on one thread; ratio: to raw pointers. Medians of 201 interleaved "
                  "rounds.");
    for (const std::ptrdiff_t num_lanes : {2, 8, 512}) compare(num_lanes);
}
