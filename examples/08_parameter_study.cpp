// A study of parameters, all in vectors of Thrust: a hundred thousand Lorenz systems, their largest Lyapunov exponents by
// pushforward, the best of them by a sort, and these improved by gradients. On the host here; 08_parameter_study.cu is the same
// text on a GPU. `example_08_parameter_study map.pgm && convert map.pgm -flip docs/images/lorenz_map.png` draws the exponents.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cmath>
#include <eddy/eddy.hpp>
#include <eddy/interop/thrust.hpp>

#include "picture_file.hpp"

constexpr int side = 320, systems = side * side, chosen = 64;
using Vector = thrust::device_vector<double>;
using eddy::view;

struct Lorenz {  // p: rho and beta
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(10 * (y[1] - y[0]), y[0] * (p[0] - y[2]) - y[1],
                         y[0] * y[1] - p[1] * y[2]);
    }
};
struct LorenzWithTangent {  // the state, and a small change of it
    static constexpr int state_size = 6, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto f = Lorenz{}(t, y, p);
        return eddy::vec(f[0], f[1], f[2], 10 * (y[4] - y[3]),
                         y[3] * (p[0] - y[2]) - y[0] * y[5] - y[4],
                         y[3] * y[1] + y[0] * y[4] - p[1] * y[5]);
    }
};
struct Growth {  // of the change over a time of 0.5
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::log(y[3] * y[3] + y[4] * y[4] + y[5] * y[5]);
    }
};
struct Grid {  // all rho, then all beta
    __host__ __device__ double operator()(int i) const {
        return i < systems ? 100. * (i % side) / side : 0.5 + 4. * (i / side - side) / side;
    }
};
struct Exponent {  // of the tangent at the end, after a time of 10
    const double* of;
    __host__ __device__ double operator()(int i) const {
        const double a = of[i], b = of[i + systems], c = of[i + 2 * systems];
        return std::log((a * a + b * b + c * c) / 3) / 20;
    }
};
struct Climb {
    __host__ __device__ double operator()(double p, double slope) const {
        return p + 0.1 * slope / (1 + std::abs(slope));
    }
};

int main(int argc, char** argv) {
    std::ofstream picture = picture_file(argc, argv);
    const auto backend = eddy::backend_of(thrust::device);
    const auto lanes = thrust::make_counting_iterator(0);
    Vector y0(3 * systems, 9.), p(2 * systems), no_change(2 * systems), change(3 * systems, 1.),
        tangent(3 * systems), exponent(systems);
    thrust::transform(lanes, lanes + 2 * systems, p.begin(), Grid{});

    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{},
                                        {.t1 = 10, .rtol = 1e-4, .atol = 1e-6}, backend);
    const auto& solution = solver(view(y0, systems, 3), view(p, systems, 2),
                                  view(change, systems, 3), view(no_change, systems, 2),
                                  eddy::SolutionInto<double>{.tangent = view(tangent, systems, 3)});
    thrust::transform(lanes, lanes + systems, exponent.begin(), Exponent{tangent.data().get()});
    const thrust::host_vector<double> map = exponent;

    thrust::device_vector<int> order(lanes, lanes + systems);
    thrust::sort_by_key(exponent.begin(), exponent.end(), order.begin(), thrust::greater<double>());
    Vector best(2 * chosen), start(6 * chosen, 1.), slope(2 * chosen);
    for (int i = 0; i < 2; ++i)
        thrust::gather(order.begin(), order.begin() + chosen, p.begin() + i * systems,
                       best.begin() + i * chosen);
    auto climber = eddy::gradient_solver(LorenzWithTangent{}, eddy::Tsit5{}, Growth{},
                                         {.t1 = 0.5, .rtol = 1e-8, .atol = 1e-10}, backend);
    double growth[20];
    for (double& total : growth) {
        const eddy::GradientInto<double> into{.p = view(slope, chosen, 2)};
        total = climber(view(start, chosen, 6), view(best, chosen, 2), into).loss.total;
        thrust::transform(best.begin(), best.end(), slope.begin(), best.begin(), Climb{});
    }
    const double classical = map[(8 * side / 3 - side / 2) / 4 * side + 28 * side / 100];
    std::printf("largest exponent %.3f, at rho 28 and beta 8/3 %.3f; growth %.4f, then %.4f\n",
                double(exponent[0]), classical, growth[0], growth[19]);
    picture << "P2 " << side << ' ' << side << " 255\n";
    for (const double x : map) picture << std::lround(std::clamp(100 + 60 * x, 0., 255.)) << '\n';
    return solution.success() && map[0] < 0 && classical > 0.5 && growth[19] > growth[0] ? 0 : 1;
}
