// All sensitivities in one call against a pushforward for each direction, and against the solve alone, on one thread:
// for one trajectory, whose directions fill packs, and for many, which fill them anyway. And by how many parameters the
// gradient of one loss is faster by reverse mode.

#include <eddy/eddy.hpp>
#include <utility>
#include <vector>

#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;
using Array = eddy::EnsembleArray<double>;

struct Lorenz {  // a parameter for every term, and two more
    static constexpr int state_size = 3, parameter_size = 10;
    static constexpr double p0[] = {10, 10, 28, 1, 1, 1, 8. / 3, 0.01, 0.01, 0.01};
    static constexpr double y0[] = {1, 1, 1};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[1] - p[1] * y[0] + p[7],
                         y[0] * (p[2] - p[3] * y[2]) - p[4] * y[1] + p[8],
                         p[5] * y[0] * y[1] - p[6] * y[2] + p[9]);
    }
};
struct Robertson {  // with flows in and out
    static constexpr int state_size = 3, parameter_size = 10;
    static constexpr double p0[] = {0.04, 3e7, 1e4, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1};
    static constexpr double y0[] = {1, 0, 0};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto a = p[0] * y[0], b = p[1] * y[1] * y[1] * p[9], c = p[2] * y[1] * y[2];
        return eddy::vec(c - a + p[3] - p[4] * y[0], a - c - b + p[5] - p[6] * y[1],
                         b + p[7] - p[8] * y[2]);
    }
};
struct Cascade {  // each species is made by the one before it, and degraded
    static constexpr int state_size = 22, parameter_size = 30;
    template <int i>
    static constexpr auto rate(const auto& y, const auto& p) {
        const auto loss = p[22 + i % 8] * y[i] / (0.5 + y[i]);
        if constexpr (i == 0)
            return p[0] * (1.0 - y[0]) - loss;
        else
            return p[i] * y[i - 1] * (1.0 - y[i]) - loss;
    }
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return eddy::vec(rate<i>(y, p)...);
        }
        (std::make_integer_sequence<int, state_size>{});
    }
};

template <class Field, class Method>
void compare(const char* name, const Method& method, double t1, std::ptrdiff_t lanes,
             const char* goal, int rounds) {
    constexpr int num_p = Field::parameter_size;
    Array y0(lanes, Field::state_size, 0.1), p(lanes, num_p, 1), y0_tangent = y0, p_tangent = p;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < Field::state_size; ++i) {
            if constexpr (requires { Field::y0; }) y0(lane, i) = Field::y0[i];
        }
        for (int i = 0; i < num_p; ++i) {
            if constexpr (requires { Field::p0; })
                p(lane, i) = Field::p0[i];
            else
                p(lane, i) = 1 + 0.02 * i;
            p(lane, i) *= 1 + 1e-4 * static_cast<double>(lane);
        }
    }
    const eddy::SolveOptions options{.t1 = t1};
    const eddy::Cpu one_thread{.threads = 1};
    auto solver = eddy::ensemble_solver(Field{}, method, options, one_thread);
    auto tangent = eddy::ensemble_solver(Field{}, method, options, one_thread);
    auto all = eddy::sensitivity_solver(Field{}, method, options, one_thread);

    Race race;
    const int alone = race.add(1, [&] { kept = solver(y0, p).y()(0, 0); });
    const int each = race.add(1, [&] { kept = tangent(y0, p, y0_tangent, p_tangent).y()(0, 0); });
    const int together = race.add(1, [&] { kept = all(y0, p).sensitivity()(0, 0, 0); });
    race.run(rounds);
    print_row(text("%s, %d trajectories", name, static_cast<int>(lanes)), goal,
              nanoseconds(race.time(together)), text("%.2f", race.ratio(together, each) / num_p),
              text("%.1f solves", race.ratio(together, alone)));
}

template <int num_p>
struct Coupled {  // as many parameters as asked for, in one of five equations each
    static constexpr int state_size = 5, parameter_size = num_p;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        auto rate = eddy::vec(-y[0], -y[1], -y[2], -y[3], -y[4]);
        for (int k = 0; k < num_p; ++k) rate[k % 5] = rate[k % 5] + p[k] * y[(k / 5 + 1) % 5];
        return rate;
    }
};
struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto off = y - data;
        return 0.5 * eddy::dot(off, off);
    }
};

/// What the gradient of one loss of five save points needs: all sensitivities, or a way back.
template <int num_p>
void compare_with_reverse(std::ptrdiff_t lanes, int rounds) {
    const Array y0(lanes, 5, 0.5), p(lanes, num_p, 1. / num_p);
    const std::vector<Array> data(5, Array(1, 5, 0.25));
    const eddy::SolveOptions options{.t1 = 5, .save_at = {1, 2, 3, 4, 5}};
    const eddy::Cpu one_thread{.threads = 1};
    auto all = eddy::sensitivity_solver(Coupled<num_p>{}, eddy::Tsit5{}, options, one_thread);
    auto reverse =
        eddy::gradient_solver(Coupled<num_p>{}, eddy::Tsit5{}, Squares{}, options, one_thread);

    Race race;
    const int forward = race.add(1, [&] { kept = all(y0, p).sensitivity(0)(0, 0, 0); });
    const int back = race.add(1, [&] { kept = reverse(data, y0, p).gradient.p(0, 0); });
    race.run(rounds);
    print_row(text("%d parameters, %d trajectories", num_p, static_cast<int>(lanes)), "",
              nanoseconds(race.time(forward)), nanoseconds(race.time(back)),
              text("%.2f", race.ratio(forward, back)));
}
template <int... num_p>
void compare_all_with_reverse() {
    for (const std::ptrdiff_t lanes : {1, 64}) (compare_with_reverse<num_p>(lanes, 21), ...);
}

}  // namespace

int main() {
    print_heading(
        "All sensitivities, rtol 1e-6, one thread",
        "Time per call; ratio: to a pushforward for each of 10 parameters (the cascade: 30). "
        "Medians of interleaved rounds.");
    compare<Lorenz>("Lorenz, Tsit5", eddy::Tsit5{}, 20, 1, "<= 0.6", 41);
    compare<Lorenz>("Lorenz, Tsit5", eddy::Tsit5{}, 20, 64, "<= 0.6", 11);
    compare<Robertson>("Robertson, Rodas5P", eddy::Rodas5P{}, 1e4, 1, "<= 0.6", 41);
    compare<Robertson>("Robertson, Rodas5P", eddy::Rodas5P{}, 1e4, 64, "<= 0.6", 11);
    compare<Robertson>("Robertson, Kvaerno5", eddy::Kvaerno5{}, 1e4, 1, "<= 0.6", 41);
    compare<Robertson>("Robertson, Kvaerno5", eddy::Kvaerno5{}, 1e4, 64, "<= 0.6", 11);
    compare<Cascade>("Cascade of 22, Tsit5", eddy::Tsit5{}, 50, 1, "<= 6 solves", 41);
    print_heading("One loss of five save points: all sensitivities against a reverse gradient",
                  "Five equations by Tsit5, rtol 1e-6, one thread: time of sensitivities, of the "
                  "gradient, and their ratio.");
    compare_all_with_reverse<3, 10, 30, 100>();
}
