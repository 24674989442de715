// The picture of docs/guide/stiff.md: the error that stiff methods reach against the time that they take, in packs on one thread.
// `cmake --build build/release --target benchmark_stiff_methods && build/release/benchmarks/solve/benchmark_stiff_methods | gnuplot >
// docs/images/stiff_methods.svg`. Half a minute; two minutes to compile.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/rosenbrock23.hpp>
#include <vector>

#include "support/stiff_equations.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
constexpr std::ptrdiff_t num_lanes = 256;

/// An equation, and its state at t1, computed in quadruple precision.
template <class Field>
struct Task {
    const char* name;
    double t1, atol_ratio;
    std::vector<double> y0, p, end;
};

Array repeated(const std::vector<double>& values) {
    Array array(num_lanes, static_cast<std::ptrdiff_t>(values.size()));
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (std::size_t i = 0; i < values.size(); ++i)
            array(lane, static_cast<std::ptrdiff_t>(i)) = values[i];
    }
    return array;
}

template <class Call>
double seconds(Call&& call) {
    double least = INFINITY;
    for (int round = 0; round < 5; ++round) {
        const std::clock_t start = std::clock();
        int count = 0;
        do call(), ++count;
        while (std::clock() - start < CLOCKS_PER_SEC / 100);
        least = std::min(least, double(std::clock() - start) / CLOCKS_PER_SEC / count);
    }
    return least;
}

/// The largest relative error of a component.
template <class Field>
double error_of(const Task<Field>& task, const auto& solution) {
    double worst = 0;
    for (std::size_t i = 0; i < task.end.size(); ++i)
        worst = std::max(
            worst, std::fabs(solution.y()(0, static_cast<std::ptrdiff_t>(i)) / task.end[i] - 1));
    return worst;
}

/// A block of data: error and microseconds a lane, for falling tolerances. A run that came out better than one at a tighter
/// tolerance was lucky, and is left out.
template <class Field, class Method>
void print_curve(const Task<Field>& task, const char* name, const Method& method) {
    const Array y0 = repeated(task.y0), p = repeated(task.p);
    std::vector<std::pair<double, double>> points;
    for (int quarter = 4; quarter <= 34; quarter += 2) {
        const double rtol = std::pow(10., -quarter / 4.);
        auto solver = eddy::ensemble_solver(
            Field{}, method, {.t1 = task.t1, .rtol = rtol, .atol = rtol * task.atol_ratio},
            eddy::Cpu{.threads = 1});
        const auto& solution = solver(y0, p);
        if (solution.result(0) != eddy::Result::success) continue;
        points.emplace_back(error_of(task, solution),
                            1e6 / num_lanes * seconds([&] { (void)solver(y0, p); }));
    }
    std::printf("$%s_%s << end\n", task.name, name);
    double worst_so_far = 0;
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        if (point->first < worst_so_far || point->first > 0.3) continue;
        worst_so_far = point->first;
        std::printf("%.4g %.4g\n", point->first, point->second);
    }
    std::printf("end\n");
}

template <class Field>
void print_curves(const Task<Field>& task) {
    print_curve(task, "Rodas5P", eddy::Rodas5P{});
    print_curve(task, "Rodas4", eddy::Rodas4{});
    print_curve(task, "Rodas3", eddy::Rodas3{});
    print_curve(task, "Rosenbrock23", eddy::Rosenbrock23{});
    print_curve(task, "Kvaerno5", eddy::Kvaerno5{});
}

void print_panel(const char* data, const char* title) {
    std::printf("set title '%s'\nplot ", title);
    const char* const methods[] = {"Rodas5P", "Rodas4", "Rodas3", "Rosenbrock23", "Kvaerno5"};
    const char* const colours[] = {"#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#7f7f7f"};
    for (int i = 0; i < 5; ++i)
        std::printf(
            "$%s_%s with linespoints linewidth 1.5 pointtype 7 pointsize 0.3 linecolor rgb '%s' "
            "title '%s'%s",
            data, methods[i], colours[i], methods[i], i < 4 ? ", " : "\n");
}

}  // namespace

int main() {
    using namespace support;
    print_curves(Task<Robertson>{
        "Robertson",
        1e11,
        1e-8,
        {1, 0, 0},
        {0.04, 1e4, 3e7},
        {2.08334014970129423057e-8, 8.33336077033478340065e-14, 9.99999979166515169379e-1}});
    print_curves(Task<Hires>{
        "HIRES",
        321.8122,
        1e-4,
        {1, 0, 0, 0, 0, 0, 0, 0.0057},
        {280, 1.81, 0.0007},
        {7.37131257332566780728e-4, 1.44248572631618465819e-4, 5.88872974096757500748e-5,
         1.17565134328314914551e-3, 2.38635619883133046882e-3, 6.23896825274279578665e-3,
         2.84999839518576865793e-3, 2.85000160481423134207e-3}});
    print_curves(Task<VanDerPol>{
        "VanDerPol", 2, 1, {2, 0}, {1000}, {1.763234540203445704, -8.356886816776773913e-1}});
    std::printf(R"(set terminal svg size 1000,340 font 'sans,12' background '#ffffff'
set multiplot layout 1,3
set grid linecolor '#dddddd'
set border 3
set tics nomirror
set logscale xy
set format xy '10^{%%T}'
set xrange [1e-1:1e-9]
set xlabel 'relative error'
set ylabel 'µs a trajectory'
set key top left samplen 1.5
set xtics (1e-2, 1e-4, 1e-6, 1e-8)
set yrange [0.5:1e5]
)");
    print_panel("Robertson", "Robertson, to t = 10^{11}");
    std::printf("unset ylabel\nunset key\n");
    print_panel("HIRES", "HIRES");
    print_panel("VanDerPol", "Van der Pol, {/Symbol m} = 1000");
    std::printf("unset multiplot\n");
}
