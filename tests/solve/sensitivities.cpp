// Gradients of a solve against exact ones: sensitivities known to more than twenty digits, from
// Radau collocation in binary128; reverse mode against forward mode; second derivatives.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using support::Array;
using support::HalfSquares;
using support::Lorenz;
using support::LotkaVolterra;
using support::relative_error;
using support::rows;

const eddy::Tsit5 tsit5;

eddy::SolveOptions tight(double t1) { return {.t1 = t1, .rtol = 1e-12, .atol = 1e-14}; }

/// Every lane the same.
Array repeated(std::ptrdiff_t lanes, std::initializer_list<double> row) {
    Array array(lanes, static_cast<std::ptrdiff_t>(row.size()));
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        std::ptrdiff_t i = 0;
        for (const double value : row) array(lane, i++) = value;
    }
    return array;
}

/// (component, variable): derivatives of the end with respect to the parameters and then to the
/// start.
using Jacobian = Array;

/// By reverse mode: lane i is given the i-th unit cotangent.
template <class Field, class Backend = eddy::Cpu>
Jacobian reverse_jacobian(const Field& field, std::initializer_list<double> y0,
                          std::initializer_list<double> p, double t1, const Backend& backend = {}) {
    constexpr int size = Field::state_size, num_p = Field::parameter_size;
    const auto solution =
        eddy::solve(field, tsit5, repeated(size, y0), repeated(size, p), tight(t1), backend);
    Array cotangents(size, size);
    for (int i = 0; i < size; ++i) cotangents(i, i) = 1;
    const auto gradient = eddy::pullback(solution, cotangents);
    Jacobian jacobian(size, num_p + size);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < num_p; ++j) jacobian(i, j) = gradient.p(i, j);
        for (int j = 0; j < size; ++j) jacobian(i, num_p + j) = gradient.y0(i, j);
    }
    return jacobian;
}

/// By forward mode: lane j is pushed in the direction of the j-th variable.
template <class Field, class Backend = eddy::Cpu>
Jacobian forward_jacobian(const Field& field, std::initializer_list<double> y0,
                          std::initializer_list<double> p, double t1, const Backend& backend = {}) {
    constexpr int size = Field::state_size, num_p = Field::parameter_size;
    Array y0_tangent(num_p + size, size), p_tangent(num_p + size, num_p);
    for (int j = 0; j < num_p; ++j) p_tangent(j, j) = 1;
    for (int j = 0; j < size; ++j) y0_tangent(num_p + j, j) = 1;
    const auto solution =
        eddy::pushforward(field, tsit5, repeated(num_p + size, y0), repeated(num_p + size, p),
                          y0_tangent, p_tangent, tight(t1), backend);
    Jacobian jacobian(size, num_p + size);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < num_p + size; ++j) jacobian(i, j) = solution.tangent()(j, i);
    }
    return jacobian;
}

/// The largest error of any derivative, relative to itself.
double largest_error(const Jacobian& jacobian, const Jacobian& wanted) {
    double error = 0;
    for (std::ptrdiff_t j = 0; j < wanted.cols(); ++j) {
        for (std::ptrdiff_t i = 0; i < wanted.rows(); ++i)
            error = std::max(error, relative_error(jacobian(i, j), wanted(i, j)));
    }
    return error;
}

const Jacobian lotka_volterra_at_1 =
    rows({{2.548316946096208499692, -1.184796662646198168244, 4.774830449799455176992e-1,
           -6.282182304499974766812e-1, 2.144632671391114642444, -1.184796662646198168244},
          {2.382855060487671519435e-1, -1.342715172043087768318e-1, -2.207160809892951062116e-1,
           3.802255584450660268283e-1, 3.802255584450660268283e-1, 1.244393609382551770686e-1}});
const Jacobian lotka_volterra_at_10 =
    rows({{2.160557523562618032039, 1.885687770780593063096e-1, 5.631827941681977203545e-1,
           9.396512871530797614826e-1, 1.965996054728169080621, 1.885687770780593063096e-1},
          {-6.256770517220815997801, -6.979775889893584812978e-1, -1.709017680597934826676,
           -2.743979155920181058254, -2.743979155920181058254, 2.117134891466831362505e-1}});
const Jacobian lorenz_at_1 =
    rows({{-1.681545185091976839564e-1, 3.099964179649855543882e-1, -1.717643188866234580009,
           4.590138801932263916388e-1, 3.753480062607961383638e-1, -2.737884373220860091643e-1},
          {-5.792739394810301409639e-1, 3.131371302737200068141e-1, 3.537178386324801127807,
           1.014302860117242316472, 8.087786901189113625859e-1, -6.327083967297912082356e-2},
          {-2.646244040675141192436e-1, 4.461348925776801834705e-1, 6.110604403269304579749,
           7.709169353267144990272e-2, 3.954573855133504151729e-2, 5.704181801269560664768e-1}});

Array random_array(support::Random& random, std::ptrdiff_t lanes, std::ptrdiff_t components) {
    Array array(lanes, components);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < components; ++i) array(lane, i) = random.uniform(-1, 1);
    }
    return array;
}

template <class A, class B>
double dot(const A& a, const B& b) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) sum += a(lane, i) * b(lane, i);
    }
    return sum;
}

}  // namespace

// A solve at rtol = 1e-12 leaves errors of a few 1e-12 in states and, times how much longer they
// are, in derivatives.

TEST_CASE("sensitivities: Lotka-Volterra is exact in reverse mode and in forward mode") {
    const auto exact_to = [](double t1, const Jacobian& wanted) {
        const Jacobian reverse = reverse_jacobian(LotkaVolterra{}, {1, 1}, {1.5, 1, 3, 1}, t1);
        const Jacobian forward = forward_jacobian(LotkaVolterra{}, {1, 1}, {1.5, 1, 3, 1}, t1);
        CAPTURE(t1);
        CHECK(largest_error(reverse, wanted) < 1e-9);
        CHECK(largest_error(forward, wanted) < 1e-9);
        CHECK(largest_error(reverse, forward) < 1e-12);
    };

    exact_to(1, lotka_volterra_at_1);
    exact_to(10, lotka_volterra_at_10);
}

TEST_CASE("sensitivities: Lorenz is exact in reverse mode and in forward mode, over rows") {
    const Jacobian reverse =
        reverse_jacobian(Lorenz{}, {1, 1, 1}, {10, 28, 8. / 3}, 1, eddy::Rows{});
    const Jacobian forward =
        forward_jacobian(Lorenz{}, {1, 1, 1}, {10, 28, 8. / 3}, 1, eddy::Rows{});

    CHECK(largest_error(reverse, lorenz_at_1) < 1e-9);
    CHECK(largest_error(forward, lorenz_at_1) < 1e-9);
    CHECK(largest_error(reverse, forward) < 1e-12);
}

TEST_CASE("sensitivities: volumes shrink as the divergence of Lorenz' field says") {
    const Jacobian d = reverse_jacobian(Lorenz{}, {1, 1, 1}, {10, 28, 8. / 3}, 1, eddy::Rows{});
    const auto minor = [&](int i, int j) {
        return d(1, 3 + i) * d(2, 3 + j) - d(1, 3 + j) * d(2, 3 + i);
    };
    const double determinant =
        d(0, 3) * minor(1, 2) - d(0, 4) * minor(0, 2) + d(0, 5) * minor(0, 1);

    // Liouville. The terms are about 0.3 and cancel to 1e-6, but their errors, some 1e-12, follow
    // the flow and cancel as they do: a hundred times more is left in the result.
    CHECK(relative_error(determinant, std::exp(-(10 + 1 + 8. / 3))) < 1e-8);
}

TEST_CASE("sensitivities: the squared distance from (1, 1) of Lotka-Volterra at t = 10") {
    const auto [loss, gradient, report] =
        eddy::value_and_gradient(LotkaVolterra{}, tsit5, HalfSquares{}, rows({{1, 1}}),
                                 rows({{1, 1}}), rows({{1.5, 1, 3, 1}}), tight(10));

    eddy::require_success(report);
    CHECK(relative_error(loss.total, 4.4248740734080089636e-3) < 1e-9);
    const double by_p[] = {6.2196158555128088408e-1, 6.8001404150874336557e-2,
                           1.6917646399589281734e-1, 2.7256069395000750513e-1};
    for (int i = 0; i < 4; ++i) CHECK(relative_error(gradient.p(0, i), by_p[i]) < 1e-9);
    CHECK(relative_error(gradient.y0(0, 0), 2.9959950830368230183e-1) < 1e-9);
    CHECK(relative_error(gradient.y0(0, 1), -1.4151816344853505533e-2) < 1e-9);
}

TEST_CASE("sensitivities: <Jv, w> = <v, J'w> over many lanes, save points and stops") {
    support::Random random(5);
    constexpr int lanes = 500;
    Array y0(lanes, 2), p(lanes, 4);
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 2; ++i) y0(lane, i) = random.uniform(0.5, 2);
        for (int i = 0; i < 4; ++i) p(lane, i) = random.uniform(0.5, 3);
    }
    const Array y0_tangent = random_array(random, lanes, 2);
    const Array p_tangent = random_array(random, lanes, 4);
    std::vector<Array> w;
    for (int k = 0; k < 5; ++k) w.push_back(random_array(random, lanes, 2));
    const eddy::SolveOptions all_options[] = {
        {.t1 = 6, .rtol = 1e-5, .save_at = {0, 0.5, 3.3, 3.31, 6}},
        {.t1 = 6, .rtol = 1e-5, .save_at = {1, 1, 3.3, 6, 6}, .step_to = {1, 2, 3.3}},
        {.t1 = 6, .rtol = 1e-5, .save_at = {1, 2, 3, 4, 5}, .jump_times = {2, 3.5}},
        {.t0 = 1, .t1 = -1, .rtol = 1e-5, .save_at = {1, 0.5, 0, 0, -1}, .step_to = {0.5}},
        {.t1 = 6, .rtol = 1e-5, .save_at = {0, 1, 2, 3, 4}, .dt_max = 0.1, .checkpoints = 10}};
    for (const auto& options : all_options) {
        const auto pushed =
            eddy::pushforward(LotkaVolterra{}, tsit5, y0, p, y0_tangent, p_tangent, options);
        const auto pulled = eddy::pullback(eddy::solve(LotkaVolterra{}, tsit5, y0, p, options), w);

        double forward = 0, size = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            const double term = dot(pushed.tangent(static_cast<std::ptrdiff_t>(k)), w[k]);
            forward += term;
            size += std::fabs(term);
        }
        const double backward = dot(pulled.y0, y0_tangent) + dot(pulled.p, p_tangent);
        REQUIRE(pushed.success());
        // The same sums in another order.
        CHECK(std::fabs(forward - backward) < 1e-12 * size);
    }
}

TEST_CASE("sensitivities: Hessian-vector products are differences of gradients, and symmetric") {
    const Array y0 = rows({{1, 1}, {1.2, 0.7}}), p = rows({{1.5, 1, 3, 1}, {1.1, 0.9, 2, 0.8}});
    const Array data = rows({{1, 1}});
    const auto options = tight(3);
    struct Direction {
        Array y0, p;
    };
    support::Random random(17);
    const auto any_direction = [&] {
        return Direction{random_array(random, 2, 2), random_array(random, 2, 4)};
    };
    const auto product = [&](const Direction& v) {
        return eddy::hessian_vector_product(LotkaVolterra{}, tsit5, HalfSquares{}, data, y0, p,
                                            v.y0, v.p, options);
    };
    const auto gradient_at = [&](const Direction& v, double step) {
        Array moved_y0 = y0, moved_p = p;
        for (int lane = 0; lane < 2; ++lane) {
            for (int i = 0; i < 2; ++i) moved_y0(lane, i) += step * v.y0(lane, i);
            for (int i = 0; i < 4; ++i) moved_p(lane, i) += step * v.p(lane, i);
        }
        return eddy::value_and_gradient(LotkaVolterra{}, tsit5, HalfSquares{}, data, moved_y0,
                                        moved_p, options)
            .gradient;
    };
    const Direction u = any_direction(), v = any_direction();
    const auto along_u = product(u), along_v = product(v);

    // Central differences: step²/6 times a third derivative, and errors of 1e-12 over the step.
    const double step = 1e-5;
    const auto ahead = gradient_at(v, step), behind = gradient_at(v, -step);
    double error = 0, size = 0;
    for (int lane = 0; lane < 2; ++lane) {
        const auto compare = [&](double value, double plus, double minus) {
            error = std::max(error, std::fabs(value - (plus - minus) / (2 * step)));
            size = std::max(size, std::fabs(value));
        };
        for (int i = 0; i < 2; ++i)
            compare(along_v.product.y0(lane, i), ahead.y0(lane, i), behind.y0(lane, i));
        for (int i = 0; i < 4; ++i)
            compare(along_v.product.p(lane, i), ahead.p(lane, i), behind.p(lane, i));
    }
    CHECK(error < 1e-7 * size);
    const double uhv = dot(u.y0, along_v.product.y0) + dot(u.p, along_v.product.p);
    const double vhu = dot(v.y0, along_u.product.y0) + dot(v.p, along_u.product.p);
    CHECK(relative_error(uhv, vhu) < 1e-12);
    CHECK(support::same_array(along_u.gradient.p, gradient_at(v, 0).p));
}
