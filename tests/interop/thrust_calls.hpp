#pragma once
// Every call on vectors of Thrust, wherever its device system has them: on the host in thrust.cpp, on a GPU in
// device/cuda_thrust.cu. `Here` is an array of the host, whose results must be had bit for bit.

#include <thrust/host_vector.h>
#include <thrust/universal_vector.h>

#include "interop/thrust_arrays.hpp"
#include "interop/thrust_results.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace thrust_calls {

using support::message_of;
using support::same_array;

}  // namespace thrust_calls

TEST_CASE("thrust: every call on device_vectors has the bits of arrays of the host") {
    using namespace thrust_calls;
    const Arrays<There> there = problem_there();
    const auto backend = eddy::backend_of(there.y0.numbers());

    const auto found = results(views_of(there), backend);

    const auto expected =
        results(problem().changed([](const Array& array) { return Here(array); }), backend);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("result " << i);
        CHECK(same_array(found[i], expected[i]));
    }
}

TEST_CASE("thrust: results are written into device_vectors") {
    using namespace thrust_calls;
    const Arrays<There> there = problem_there();
    const auto of = views_of(there);
    const auto backend = eddy::backend_of(thrust::device);
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, backend);
    auto gradient_solver =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
    const auto solution = solver(of.y0, of.p);
    const auto gradient = gradient_solver(of.data, of.y0, of.p);
    There first(lanes, 2), last(lanes, 2), y0(lanes, 2), p(lanes, 2), losses(lanes, 1);

    const std::vector states{first.in_place(), last.in_place()};
    CHECK(solver(of.y0, of.p, eddy::SolutionInto<double>{.y = states}).success());
    const auto& total =
        gradient_solver(of.data, of.y0, of.p,
                        eddy::GradientInto<double>{
                            .y0 = y0.in_place(), .p = p.in_place(), .loss = losses.in_place()})
            .loss.total;

    CHECK(same_array(first.values(), solution.y(0)));
    CHECK(same_array(last.values(), solution.y(1)));
    CHECK(same_array(y0.values(), gradient.gradient.y0));
    CHECK(same_array(p.values(), gradient.gradient.p));
    CHECK(total == gradient.loss.total);
    CHECK(losses.values()(69, 0) == gradient.loss(69));
}

TEST_CASE("thrust: host and universal vectors, ranges of device_ptr, and strides") {
    using namespace thrust_calls;
    const Array y0 = some(0.1), p = some(1);
    const There y0_there(y0), p_there(p);
    const auto backend = eddy::backend_of(y0_there.numbers());
    const auto solve = [&](const auto& starts) {
        return Array(
            eddy::solve(Forced{}, eddy::Bosh3{}, starts, p_there.in_place(), options, backend)
                .y(1));
    };
    const Array expected = solve(y0_there.in_place());
    const thrust::host_vector<double> of_host(y0.begin(), y0.end());
    thrust::universal_vector<double> universal(y0.begin(), y0.end());
    thrust::host_vector<double> by_rows(3 * lanes, -1e300);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            by_rows[static_cast<std::size_t>(1 + 3 * lane + i)] = y0(lane, i);
    }
    Vector rows = by_rows;

    CHECK(same_array(solve(view(of_host, lanes, 2)), expected));
    CHECK(same_array(solve(view(universal, lanes, 2)), expected));
    CHECK(same_array(solve(view(rows.data() + 1, rows.data() + 3 * lanes, lanes, 2, 3, 1)),
                     expected));
    CHECK(same_array(solve(view(rows.begin() + 1, rows.end(), lanes, 2, 3, 1)), expected));
}

TEST_CASE("thrust: shapes that a vector has no numbers for are refused") {
    using namespace thrust_calls;
    Vector six(6);
    const auto said = [&](const auto&... shape) {
        return message_of([&] { static_cast<void>(view(six, shape...)); });
    };

    CHECK(said(2, 3).empty());
    CHECK(said(2, 3, 3, 1).empty());
    CHECK(said(1, 3, 0, 2).empty());
    CHECK(said(0, 3).find("view: 6 numbers for 0 x 3") == 0);
    CHECK(said(0, 3, 1, 0).empty());
    CHECK(said(4, 2) ==
          "view: 6 numbers for 4 x 2 (trajectory, component); give as many as that has");
    CHECK(said(2, 3, 4, 1) ==
          "view: 2 x 3 (trajectory, component) with strides of 4 and 1 in 6 numbers; give strides "
          "that stay among them");
    CHECK(said(2, 3, 3, 1).empty());
    CHECK(said(2, 3, -3, 1) ==
          "view: 2 x 3 (trajectory, component) with strides of -3 and 1; give sizes and strides of "
          "at least 0");
    CHECK_FALSE(said(1 << 30, 1 << 30, 1 << 30, std::ptrdiff_t{1} << 60).empty());
    CHECK(message_of([&] { static_cast<void>(view(six.begin(), six.end() - 1, 2, 3)); }) ==
          "view: 5 numbers for 2 x 3 (trajectory, component); give as many as that has");
    Vector none;
    CHECK(message_of([&] { static_cast<void>(view(none, 1, 1, 1, 1)); }) ==
          "view: 1 x 1 (trajectory, component) with strides of 1 and 1 in 0 numbers; give strides "
          "that stay among them");
    CHECK(view(none.begin(), none.end(), 0, 2).rows() == 0);
}
