// Problems whose ends are known to more than twenty digits, from Radau collocation in binary128 at
// tolerances below 1e-20. Coefficients are exact decimals there.

#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/vern7.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using support::rows;

/// Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, p. 170.
struct Brusselator {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        const auto product = y[0] * y[0] * y[1];
        return eddy::vec(1 + product - 4 * y[0], 3 * y[0] - product);
    }
};

struct VanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * (1 - y[0] * y[0]) * y[1] - y[0]);
    }
};

/// The largest error at the end of one lane, relative to the largest component.
template <class Method, class Backend = eddy::Rows, class Field>
double error_at_end(const Field& field, const support::Array& y0, const support::Array& p,
                    double t1, const std::vector<double>& end) {
    const auto solution =
        eddy::solve(field, Method{}, y0, p, {.t1 = t1, .rtol = 1e-12, .atol = 1e-14}, Backend{});
    eddy::require_success(solution);
    double error = 0, size = 0;
    for (std::ptrdiff_t i = 0; i < solution.y().cols(); ++i) {
        const double wanted = end[static_cast<std::size_t>(i)];
        error = std::max(error, std::fabs(solution.y()(0, i) - wanted));
        size = std::max(size, std::fabs(wanted));
    }
    return error / size;
}

}  // namespace

// A step leaves an error of at most rtol = 1e-12, which the flow magnifies by what it does to a
// change of the state. Vern7 controls the error of its formula of order 6 and goes on with that of
// order 7, whose errors are a hundred times smaller here: what is asked for is 1e-14 times the
// magnification, and round-off of a few hundred steps.

TEST_CASE("reference: Lotka-Volterra at t = 1 and t = 10") {
    const auto end_error = [](double t1, const std::vector<double>& end) {
        return error_at_end<eddy::Vern7>(support::LotkaVolterra{}, rows({{1, 1}}),
                                         rows({{1.5, 1, 3, 1}}), t1, end);
    };

    // |dy(1)/dy(0)| is 2.5.
    CHECK(end_error(1, {2.772850901841112119126, 2.587108781425639539004e-1}) < 3e-14);
    // |dy(10)/dy(s)| reaches 6, and y(s) is up to six times as long as the end.
    CHECK(end_error(10, {1.026344767575089319139, 9.096910781360416175482e-1}) < 5e-13);
}

TEST_CASE("reference: Lorenz at t = 1") {
    // |dy(1)/dy(s)| is below 1.4, and y(s) no more than twice as long as the end.
    CHECK(error_at_end<eddy::Vern7>(
              support::Lorenz{}, rows({{1, 1, 1}}), rows({{10, 28, 8. / 3}}), 1,
              {-9.378570010925062360842, -8.357033788426644732902, 29.36232533736342818034}) <
          2e-14);
}

TEST_CASE("reference: the Brusselator at t = 20") {
    // Drawn to a limit cycle: only the phase remembers.
    CHECK(error_at_end<eddy::Vern7>(Brusselator{}, rows({{1.5, 3}}), support::Array(1, 0), 20,
                                    {4.98637071268347848649855e-1, 4.59678034945201118320174}) <
          5e-14);
}

TEST_CASE("reference: Van der Pol with mu = 1 at t = 20") {
    // Another limit cycle.
    CHECK(error_at_end<eddy::Vern7>(VanDerPol{}, rows({{2, 0}}), rows({{1}}), 20,
                                    {2.008149762174948592014, -4.250887527320214698593e-2}) <
          5e-14);
}

TEST_CASE("reference: Pleiades at t = 3") {
    const std::vector<double> end{
        3.70613914397051290094e-1,  3.23728409205723309280,     -3.22255903241832334710,
        6.59709145577530835935e-1,  3.42558170715657979038e-1,  1.56217210140063101605,
        -7.00309292221249538515e-1, -3.94343758551739205528,    -3.27138097397254992802,
        5.22508184345654419244,     -2.59061243497746951081,    1.19821369339227463751,
        -2.42968234493582340916e-1, 1.09144924042897974788,     3.41700380631431475229,
        1.35458450162550122148,     -2.59006559781077541962,    2.02505373471424110649,
        -1.15581510016044909271,    -8.07298817022302172566e-1, 5.95239635420871876661e-1,
        -3.74124496123400847120,    3.77345968575062903656e-1,  9.38685886955107888695e-1,
        3.66792222720056986670e-1,  -3.47404635380849436601e-1, 2.34491544818093692314,
        -1.94702043426329190067};
    const auto y0 = rows({{3, 3, -1, -3, 2, -2,   2,    3, -3, 2, 0,     0, -4, 4,
                           0, 0, 0,  0,  0, 1.75, -1.5, 0, 0,  0, -1.25, 1, 0,  0}});

    // 28 components, near encounters, and 4000 steps: as published in double precision, the order
    // of the method only shows in their number.
    CHECK(error_at_end<eddy::Dopri5>(support::Pleiades{}, y0, support::Array(1, 0), 3, end) <
          5e-11);
}
