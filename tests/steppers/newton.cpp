#include <cmath>
#include <eddy/steppers/newton.hpp>

#include "support/catch.hpp"

namespace {

using Progress = eddy::NewtonProgress<double>;

struct Ending {
    int updates;
    bool failed;
};
/// Hands over the norms that norm(k) gives until the iteration ends, at most `most` of them.
template <class Norm>
Ending end_of(Progress& progress, const Norm& norm, int most = 10) {
    progress.begin_stage();
    int k = 0;
    for (; k < most && progress.goes_on(); ++k) (void)progress.take(norm(k), k == 0);
    progress.end_stage();
    return {k, progress.failed()};
}
Ending end_of_one(double first, double ratio) {
    Progress progress(false, 1e-9);
    return end_of(progress, [&](int k) { return first * std::pow(ratio, k); });
}

}  // namespace

TEST_CASE("newton: ends where what is left, summed geometrically, is within bounds") {
    // 100 θ^k θ / (1 − θ) ≤ 1.
    CHECK(end_of_one(100, 0.1).updates == 3);
    CHECK(end_of_one(100, 0.5).updates == 8);
    CHECK_FALSE(end_of_one(100, 0.5).failed);
    CHECK(end_of_one(0.1, 0.5).updates == 2);    // of one update nothing can be told
    CHECK(end_of_one(1e-10, 0.5).updates == 1);  // but of rounding
    CHECK(end_of_one(0, 0.5).updates == 1);
}

TEST_CASE("newton: fails where updates grow, are not numbers, or take too long") {
    CHECK(end_of_one(100, 2.5).failed);
    CHECK(end_of_one(100, 2.5).updates == 2);
    CHECK(end_of_one(100, 0.9).failed);
    CHECK(end_of_one(100, 0.9).updates == 10);
    CHECK(end_of_one(std::nan(""), 1).updates == 1);
    CHECK(end_of_one(std::nan(""), 1).failed);
    CHECK(end_of_one(INFINITY, 1).failed);
}

TEST_CASE("newton: updates within bounds that grow no smaller are rounding") {
    CHECK_FALSE(end_of_one(0.5, 1).failed);
    CHECK(end_of_one(0.5, 1).updates == 2);
    CHECK(end_of_one(5, 1).failed);
}

TEST_CASE("newton: what a stage has shown serves the next, and a failure stays") {
    Progress progress(false, 1e-9);
    CHECK(end_of(progress, [](int k) { return 10 * std::pow(0.01, k); }).updates == 2);
    CHECK(end_of(progress, [](int k) { return 10 * std::pow(0.01, k); }).updates == 1);

    CHECK(end_of(progress, [](int) { return 1e6; }).failed);
    CHECK(end_of(progress, [](int) { return 0.; }).updates == 0);
    CHECK(progress.failed());
    CHECK(progress.num_updates() == 2 + 1 + 10);
}

TEST_CASE("newton: bounds are a part of the tolerances, and not below rounding") {
    const double atol[] = {1e-8, 1e-6};
    const eddy::Vec<double, 2> y{{0, 2}}, update{{1e-10, 3e-8}};
    const eddy::StepTolerances<double> tolerances{1e-6, atol, 1e-2};
    const eddy::NewtonScale<double> scale(tolerances);
    CHECK(scale.norm(update, y, y, tolerances) == Approx(std::sqrt(0.5 * (1 + 1))).epsilon(1e-6));
    CHECK(scale.floor() == Approx(20 * 2.22e-16 / 1e-8).epsilon(1e-2));

    const eddy::StepTolerances<double> tight{1e-16, atol, 1e-2}, tiny{1e-6, atol, 1e-300};
    CHECK(eddy::NewtonScale<double>(tight).floor() == 1);
    CHECK(eddy::NewtonScale<double>(tiny).floor() == 1);
    CHECK(eddy::NewtonScale<double>(eddy::NoTolerances{}).floor() == 1);
    CHECK(eddy::NewtonScale<float>(eddy::NoTolerances{}).rtol ==
          Approx(20 * 1.19e-7).epsilon(1e-2));
}
