#include <boost/numeric/odeint.hpp>

#include "peers.hpp"

namespace benchmark {

const bool has_odeint = true;

State odeint_dopri5(const State& y0, const LorenzParameters& p, double tolerance) {
    namespace odeint = boost::numeric::odeint;
    State y = y0;
    const auto field = [p](const State& x, State& dx, double) {
        dx[0] = p.sigma * (x[1] - x[0]);
        dx[1] = x[0] * (p.rho - x[2]) - x[1];
        dx[2] = x[0] * x[1] - p.beta * x[2];
    };
    const double first_step = 1e-3;
    odeint::integrate_adaptive(
        odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(tolerance, tolerance), field, y,
        0., 1., first_step);
    return y;
}

}  // namespace benchmark
