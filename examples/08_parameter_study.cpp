// A study of parameters, all in vectors of Thrust: a hundred thousand Lorenz systems, their largest Lyapunov exponents by
// pushforward, the best of them by a sort, and these improved by gradients. On the host here; 08_parameter_study.cu is the same
// text on a GPU. `example_08_parameter_study map.svg` draws the exponents.
#include <thrust/device_vector.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <eddy/interop/thrust.hpp>

#include "picture_file.hpp"

constexpr int side = 320, systems = side * side, chosen = 64;
constexpr double end = 10;
using Vector = thrust::device_vector<double>;

struct Lorenz {  // p: rho and beta
    static constexpr int state_size = 3, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(10 * (y[1] - y[0]), y[0] * (p[0] - y[2]) - y[1],
                         y[0] * y[1] - p[1] * y[2]);
    }
};
struct LorenzWithTangent {  // the state, and a small change of it
    static constexpr int state_size = 6, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(10 * (y[1] - y[0]), y[0] * (p[0] - y[2]) - y[1], y[0] * y[1] - p[1] * y[2],
                         10 * (y[4] - y[3]), y[3] * (p[0] - y[2]) - y[0] * y[5] - y[4],
                         y[3] * y[1] + y[0] * y[4] - p[1] * y[5]);
    }
};
struct Growth {  // its exponent over a time of 0.5
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::log(y[3] * y[3] + y[4] * y[4] + y[5] * y[5]);
    }
};
struct Range {  // of the grid's numbers rho or beta
    int divisor;
    double first, width;
    __host__ __device__ double operator()(int i) const {
        return first + width * (i / divisor % side) / side;
    }
};
struct Exponent {  // of the tangent at the end
    const double* tangent;
    __host__ __device__ double operator()(int i) const {
        const double *a = tangent + i, *b = a + systems, *c = b + systems;
        return std::log(*a * *a + *b * *b + *c * *c) / (2 * end);
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
    Vector y0(3 * systems, 9.), p(2 * systems), no_change(2 * systems), change(3 * systems, 0.);
    thrust::transform(lanes, lanes + systems, p.begin(), Range{1, 0, 100});
    thrust::transform(lanes, lanes + systems, p.begin() + systems, Range{side, 0.5, 4});
    thrust::fill(change.begin(), change.begin() + systems, 1.);

    const eddy::SolveOptions options{.t1 = end, .rtol = 1e-4, .atol = 1e-6};
    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, backend);
    Vector tangent(3 * systems), exponent(systems);
    const bool solved =
        solver(eddy::view(y0, systems, 3), eddy::view(p, systems, 2),
               eddy::view(change, systems, 3), eddy::view(no_change, systems, 2),
               eddy::SolutionInto<double>{.tangent = eddy::view(tangent, systems, 3)})
            .success();
    thrust::transform(lanes, lanes + systems, exponent.begin(),
                      Exponent{thrust::raw_pointer_cast(tangent.data())});
    const thrust::host_vector<double> map = exponent;

    thrust::device_vector<int> order(systems);
    thrust::sequence(order.begin(), order.end());
    thrust::sort_by_key(exponent.begin(), exponent.end(), order.begin(), thrust::greater<double>());
    Vector best(2 * chosen), start(6 * chosen, 0.), slope(2 * chosen), growth(chosen);
    for (int i = 0; i < 2; ++i)
        thrust::gather(order.begin(), order.begin() + chosen, p.begin() + i * systems,
                       best.begin() + i * chosen);
    thrust::fill(start.begin(), start.begin() + 4 * chosen, 1.);
    auto climber = eddy::gradient_solver(LorenzWithTangent{}, eddy::Tsit5{}, Growth{},
                                         {.t1 = 0.5, .rtol = 1e-8, .atol = 1e-10}, backend);
    double first = 0, last = 0;
    for (int step = 0; step < 20; ++step) {
        last = climber(eddy::view(start, chosen, 6), eddy::view(best, chosen, 2),
                       eddy::GradientInto<double>{.p = eddy::view(slope, chosen, 2)})
                   .loss.total /
               chosen;
        if (step == 0) first = last;
        thrust::transform(best.begin(), best.end(), slope.begin(), best.begin(), Climb{});
    }
    const double classical = map[(8 * side / 3 - side / 2) / 4 * side + 28 * side / 100];
    std::printf(
        "largest exponent %.3f, at rho 28 and beta 8/3 %.3f; growth of the best, before %.4f and "
        "after %.4f\n",
        static_cast<double>(exponent[0]), classical, first, last);
    picture << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"640\">\n";
    for (int i = 0; i < systems; i += i % side == side - 4 ? 3 * side + 4 : 4)
        picture << "<rect x=\"" << i % side * 2 << "\" y=\"" << 632 - i / side * 2
                << "\" width=\"8\" height=\"8\" fill=\"rgb(" << (map[i] > 0 ? 255 : 120) << ','
                << int(255 - 150 * std::fmin(1, std::fabs(map[i]))) << ",140)\"/>\n";
    picture << "</svg>\n";
    return solved && map[0] < 0 && classical > 0.5 && last > first ? 0 : 1;
}
