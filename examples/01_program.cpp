// An equation as a program: its value, its derivatives, and who depends on whom.
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>

struct Lorenz {  // p = (sigma, rho, beta)
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1],
                         y[0] * y[1] - p[2] * y[2]);
    }
};

int main() {
    using Vec = eddy::Vec<double, 3>;
    constexpr auto f = eddy::trace_field(Lorenz{});  // (t, y, p) -> dy/dt
    constexpr auto pullback = eddy::vjp<1, 2>(f);    // with respect to arguments 1 and 2: y and p
    constexpr auto jacobian = eddy::jacobian<1>(f);  // with respect to y
    const Vec y{{1, 2, 3}}, p{{10, 28, 2}}, cotangent{{1, 0, -1}};

    const Vec dy = f(0.0, y, p);
    const auto [of_y, of_p] = pullback(0.0, y, p, cotangent);
    const auto values = jacobian(0.0, y, p);

    std::printf("dy/dt = (%g, %g, %g), the same as the plain call: %s\n", dy[0], dy[1], dy[2],
                dy == Lorenz{}(0.0, y, p) ? "yes" : "no");
    std::printf("cotangents: y (%g, %g, %g), p (%g, %g, %g)\n", of_y[0], of_y[1], of_y[2], of_p[0],
                of_p[1], of_p[2]);
    Vec product{};  // the transposed Jacobian times the cotangent, entry by entry
    for (int e = 0; e < jacobian.num_nonzeros; ++e) {
        const auto [row, column] = jacobian.pattern[e];
        std::printf("d f[%d] / d y[%d] = %g\n", row, column, values[e]);
        product[column] += values[e] * cotangent[row];
    }
    return dy == Vec{{10, 23, -4}} && of_p == Vec{{1, 0, 3}} && of_y == product ? 0 : 1;
}
