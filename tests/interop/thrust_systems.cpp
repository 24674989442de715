// What view and backend_of give on each host system of Thrust, and every call on its vectors: this source is compiled for
// CPP, OMP and TBB.

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>
#include <thrust/universal_vector.h>

#include <concepts>
#include <eddy/interop/thrust.hpp>
#include <utility>

#include "interop/thrust_arrays.hpp"
#include "interop/thrust_on_host.hpp"
#include "support/catch.hpp"

namespace {

struct Squared {
    double operator()(int i) const { return i * i; }
};
template <class Vector, class Real>
inline constexpr bool is_array_of_host =
    std::same_as<decltype(eddy::view(std::declval<Vector&>(), 2, 3)), eddy::EnsembleView<Real>>;

static_assert(is_array_of_host<thrust::device_vector<double>, double>);
static_assert(is_array_of_host<const thrust::device_vector<float>, const float>);
static_assert(is_array_of_host<thrust::host_vector<float>, float>);
static_assert(is_array_of_host<const thrust::universal_vector<double>, const double>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::device)), eddy::Cpu>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::host)), eddy::Cpu>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::seq)), eddy::Cpu>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::device_vector<float>())), eddy::Cpu>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::host_vector<float>())), eddy::Cpu>);

}  // namespace

TEST_CASE("thrust systems: a view is where Thrust writes") {
    thrust::device_vector<double> numbers(6);
    const auto view = eddy::view(numbers, 2, 3);
    const auto of_range = eddy::view(numbers.data() + 2, numbers.data() + 6, 2, 2);

    thrust::transform(thrust::device, thrust::counting_iterator(0), thrust::counting_iterator(6),
                      numbers.begin(), Squared{});

    CHECK(view(1, 2) == 25);
    CHECK(of_range(0, 1) == 16);
    view(1, 0) = -1;
    CHECK(numbers[1] == -1);
}

TEST_CASE("thrust systems: every call on device_vectors has the bits of Eigen's arrays") {
    using namespace thrust_calls;
    const Arrays<There> there = problem_there();

    const auto found = all_results(views_of(there));

    const auto expected =
        all_results(problem().changed([](const Array& array) { return Eigen::ArrayXXd(array); }));
    REQUIRE(found.size() == 15);
    REQUIRE(expected.size() == found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("result " << i);
        CHECK(support::same_array(found[i], expected[i]));
    }
}

TEST_CASE("thrust systems: so have results that are written into device_vectors") {
    using namespace thrust_calls;
    Arrays<There> there = problem_there();
    There y(lanes, 2), y0(lanes, 2), p(lanes, 2), loss(lanes, 1);

    write_results(views_of(there), {y.in_place(), y0.in_place(), p.in_place(), loss.in_place()});

    const auto expected = results_to_write(
        problem().changed([](const Array& array) { return Eigen::ArrayXXd(array); }));
    CHECK(support::same_array(y.values(), expected[0]));
    CHECK(support::same_array(y0.values(), expected[1]));
    CHECK(support::same_array(p.values(), expected[2]));
    CHECK(support::same_array(loss.values(), expected[3]));
}
