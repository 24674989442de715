// The picture of docs/guide/reliable_gradients.md: the sizes of steps that follow the state alone, and of
// steps that follow a tangent as well, against the bound of stability; and the derivatives that they
// carry. `build/release/benchmarks/stability/step_sizes | gnuplot > docs/images/stable_steps.svg`

#include <cmath>
#include <cstdio>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

namespace {

constexpr double rate = 50, bound = 3.5;  // of Tsit5, on the negative real axis

struct TwoDecays {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(-y[0], -(rate * y[1]));
    }
};

auto solve_along(bool tangents_in_error_norm) {
    eddy::EnsembleArray<double> y0(1, 2), tangent(1, 2);
    const eddy::EnsembleArray<double> none(1, 0);
    y0(0, 0) = tangent(0, 1) = 1;
    std::vector<double> times;
    for (int k = 1; k <= 400; ++k) times.push_back(0.025 * k);
    return eddy::pushforward(TwoDecays{}, eddy::Tsit5{}, y0, none, tangent, none,
                             {.t1 = 10,
                              .save_at = times,
                              .save_steps = true,
                              .tangents_in_error_norm = tangents_in_error_norm},
                             eddy::Serial{});
}

void print_data(const char* name, const auto& solution) {
    std::printf("$%s_steps << end\n", name);
    for (std::ptrdiff_t k = 1; k < solution.num_steps(0); ++k)
        std::printf("%.6g %.6g\n", solution.step_t(0, k),
                    solution.step_t(0, k) - solution.step_t(0, k - 1));
    std::printf("end\n$%s_derivative << end\n", name);
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k)
        std::printf("%.6g %.6g\n", solution.t(k), std::fabs(solution.tangent(k)(0, 1)));
    std::printf("end\n");
}

}  // namespace

int main() {
    print_data("plain", solve_along(false));
    print_data("stable", solve_along(true));
    std::printf(R"(set terminal svg size 900,340 font 'sans,12' background '#ffffff'
set multiplot layout 1,2
set grid linecolor '#dddddd'
set border 3
set tics nomirror
set logscale y
set format y '10^{%%T}'
set xlabel 't'
set key top left
set title 'step size'
set yrange [1e-3:5]
plot $plain_steps with points pointtype 7 pointsize 0.4 linecolor rgb '#d62728' title 'what the state asks for', \
     $stable_steps with points pointtype 7 pointsize 0.4 linecolor rgb '#1f77b4' title 'with a tangent in the error norm', \
     %g with lines linecolor rgb '#222222' dashtype 2 title 'bound of stability'
set title 'derivative of y_2(t) with respect to y_2(0)'
set yrange [1e-20:1e160]
plot $plain_derivative with lines linewidth 2 linecolor rgb '#d62728' title 'along those steps', \
     $stable_derivative with lines linewidth 2 linecolor rgb '#1f77b4' title 'along these', \
     exp(-%g * x) with lines linecolor rgb '#222222' dashtype 2 title 'exact'
unset multiplot
)",
                bound / rate, rate);
}
