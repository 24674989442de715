#include "reference.hpp"

#include "hand_lorenz.hpp"

namespace benchmark {
namespace {

using Real = long double;

void append(std::vector<double>& values, const Vec3<Real>& v) {
    for (const Real x : {v.x, v.y, v.z}) values.push_back(static_cast<double>(x));
}

void append_lane(Reference& reference, double rho) {
    HandLorenz<Real> lorenz;
    lorenz.rho = rho;
    lorenz.beta = static_cast<Real>(8. / 3);
    const auto y = lorenz.solve_fixed({1, 0, 0}, 1, 4000);
    append(reference.y, y);
    append(reference.gradient, lorenz.pull_back(2 * y).p);
}

}  // namespace

Reference reference(std::ptrdiff_t num_lanes, std::ptrdiff_t stride) {
    Reference result;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; lane += stride)
        append_lane(result, rho_of(lane, num_lanes));
    return result;
}

std::vector<double> reference_gradient(double rho) {
    Reference result;
    append_lane(result, rho);
    return result.gradient;
}

}  // namespace benchmark
