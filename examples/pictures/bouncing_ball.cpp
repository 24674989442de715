// The picture of docs/guide/events.md: a bouncing ball, its events, and the derivative of its height with respect to the restitution.
// `build/release/examples/pictures/picture_bouncing_ball | gnuplot > docs/images/bouncing_ball.svg`

#include <cstdio>
#include <eddy/eddy.hpp>
#include <vector>

namespace {

struct Ball {  // y = (height, speed); p = (gravity, restitution)
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], -p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(0.0, -p[1] * y[1]);
    }
};

}  // namespace

int main() {
    // Trajectory 1 differs from trajectory 0 by a little more restitution.
    const double more = 0.02;
    eddy::EnsembleArray<double> y0(2, 2), p(2, 2, 9.81), along_y0(2, 2), along_p(2, 2);
    for (int lane = 0; lane < 2; ++lane) {
        y0(lane, 0) = 1;
        p(lane, 1) = 0.8 + more * lane;
        along_p(lane, 1) = 1;
    }
    std::vector<double> times;
    for (int k = 1; k <= 500; ++k) times.push_back(0.005 * k);
    const auto moved = eddy::pushforward(
        Ball{}, eddy::Tsit5{}, y0, p, along_y0, along_p,
        {.t1 = 2.5, .rtol = 1e-8, .atol = 1e-10, .save_at = times, .save_steps = true});
    eddy::require_success(moved);

    for (int lane = 0; lane < 2; ++lane) {
        std::printf("$ball%d << end\n0 1 0\n", lane);
        for (std::ptrdiff_t k = 0; k < moved.num_saves(); ++k)
            std::printf("%.6g %.6g %.6g\n", moved.t(k), moved.y(k)(lane, 0),
                        moved.tangent(k)(lane, 0));
        std::printf("end\n");
    }
    std::printf("$bounces << end\n");  // steps end at events, where the reset makes the height zero
    for (std::ptrdiff_t k = 1; k < moved.num_steps(0); ++k) {
        if (moved.step_y(0, k, 0) == 0) std::printf("%.6g 0\n", moved.step_t(0, k));
    }
    std::printf("end\n");
    std::printf(R"(set terminal svg size 900,480 font 'sans,12' background '#ffffff'
set multiplot layout 2,1
set grid linecolor '#dddddd'
set border 3
set tics nomirror
set lmargin 9
set key top right
set ylabel 'height'
set yrange [-0.08:1.1]
plot $ball0 using 1:2 with lines linewidth 2 linecolor rgb '#1f77b4' title 'restitution r = 0.80', \
     $ball1 using 1:2 with lines linecolor rgb '#ff7f0e' dashtype 2 title 'r = 0.82', \
     $bounces with points pointtype 7 pointsize 0.7 linecolor rgb '#d62728' title 'events'
set key top left
set xlabel 't'
set ylabel 'd height / d r'
set yrange [*:*]
plot $ball0 using 1:3 with lines linewidth 2 linecolor rgb '#1f77b4' title 'forward sensitivity, through the events'
unset multiplot
)");
}
