// Memory of a device: solver objects give all of it back, a second call takes none, a call that there is too
// little for leaves nothing behind; arrays lie there with strides of any kind, and lanes that take longer
// are begun first, without a change to any bit.
#include <cmath>
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <memory>
#include <string>
#include <vector>

#include "solve/device_lanes.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::same_array;
using support::same_bits;

std::size_t bytes_free() {
    std::size_t num_free = 0, in_all = 0;
    eddy::cuda_check(cudaMemGetInfo(&num_free, &in_all));
    return num_free;
}

/// Numbers on the device, each lane's side by side where they are `row_major`, with a gap behind.
class Strided {
  public:
    Strided(const Array& values, bool row_major)
        : lanes_(values.rows()),
          components_(values.cols()),
          lane_stride_(row_major ? components_ + 3 : 1),
          component_stride_(row_major ? 1 : lanes_ + 5),
          numbers_(static_cast<std::size_t>((lanes_ + 5) * (components_ + 3)), std::nan("")) {
        for (std::ptrdiff_t i = 0; i < components_; ++i) {
            for (std::ptrdiff_t lane = 0; lane < lanes_; ++lane)
                numbers_[index(lane, i)] = values(lane, i);
        }
        eddy::cuda_check(cudaMalloc(reinterpret_cast<void**>(&there_), num_bytes()));
        eddy::cuda_check(cudaMemcpy(there_, numbers_.data(), num_bytes(), cudaMemcpyDefault));
    }
    ~Strided() { cudaFree(there_); }
    Strided(const Strided&) = delete;
    Strided& operator=(const Strided&) = delete;

    [[nodiscard]] auto view() const {
        return eddy::on_device(there_, lanes_, components_, lane_stride_, component_stride_);
    }
    [[nodiscard]] Array values() const {
        auto now = numbers_;
        eddy::cuda_check(cudaMemcpy(now.data(), there_, num_bytes(), cudaMemcpyDefault));
        Array values(lanes_, components_);
        for (std::ptrdiff_t i = 0; i < components_; ++i) {
            for (std::ptrdiff_t lane = 0; lane < lanes_; ++lane)
                values(lane, i) = now[index(lane, i)];
        }
        return values;
    }
    /// Numbers that are NaN now.
    [[nodiscard]] std::ptrdiff_t num_gaps() const {
        auto now = numbers_;
        eddy::cuda_check(cudaMemcpy(now.data(), there_, num_bytes(), cudaMemcpyDefault));
        std::ptrdiff_t count = 0;
        for (const double number : now) count += std::isnan(number);
        return count;
    }

  private:
    [[nodiscard]] std::size_t index(std::ptrdiff_t lane, std::ptrdiff_t i) const {
        return static_cast<std::size_t>(lane * lane_stride_ + i * component_stride_);
    }
    [[nodiscard]] std::size_t num_bytes() const { return numbers_.size() * sizeof(double); }

    std::ptrdiff_t lanes_, components_, lane_stride_, component_stride_;
    std::vector<double> numbers_;
    double* there_ = nullptr;
};

constexpr std::ptrdiff_t num_lanes = 10'007;
/// Every seventh lane takes longer than the others, by hundreds of steps.
const Array from = device_lanes::varied(num_lanes, 0.2),
            rates = device_lanes::varied(num_lanes, 0.7, true);
const std::vector<Array> data{device_lanes::varied(num_lanes, 0.4), Array(1, 2, 0.25)};
const eddy::SolveOptions options{.t1 = 2,
                                 .rtol = 1e-4,
                                 .atol = 1e-7,
                                 .save_at = {0.5, 2},
                                 .max_steps = 900,
                                 .stable_gradients = false};

auto solver_on(const auto& backend) {
    return eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
}

}  // namespace

TEST_CASE("device memory: a second call takes none, a solver object gives all of it back") {
    static_cast<void>(solver_on(eddy::Cuda{})(data, from, rates));  // what the runtime keeps itself
    const std::size_t at_first = bytes_free();
    for (int time = 0; time < 20; ++time) {
        auto solver = solver_on(eddy::Cuda{});
        static_cast<void>(solver(data, from, rates));
        const std::size_t meanwhile = bytes_free();
        static_cast<void>(solver(data, from, rates));
        if (time == 0) CHECK(meanwhile < at_first);
        CHECK(bytes_free() == meanwhile);
    }
    CHECK(bytes_free() == at_first);
}

TEST_CASE("device memory: lanes of very different length have the same bits in every call") {
    auto serial = solver_on(eddy::Serial{});
    const auto& expected = serial(data, from, rates);
    auto solver = solver_on(eddy::Cuda{});
    for (int time = 0; time < 3; ++time) {
        CAPTURE(time);
        const auto& found = solver(data, from, rates);
        CHECK(same_array(found.gradient.y0, expected.gradient.y0));
        CHECK(same_array(found.gradient.p, expected.gradient.p));
        CHECK(same_bits(found.loss.total_of_successful, expected.loss.total_of_successful));
        CHECK(found.report.total_stats().accepted == expected.report.total_stats().accepted);
    }
    CHECK(expected.report.stats(3).accepted > 5 * expected.report.stats(4).accepted);
}

TEST_CASE("device memory: arrays there, row by row or with gaps, data and results among them") {
    const auto expected = solver_on(eddy::Serial{})(data, from, rates);
    for (const bool row_major : {false, true}) {
        CAPTURE(row_major);
        const Strided y0(from, row_major), p(rates, !row_major), first(data[0], row_major),
            second(data[1], row_major), of_y0(Array(num_lanes, 2), row_major),
            of_p(Array(num_lanes, 2), row_major), loss(Array(num_lanes, 1), false);
        const std::ptrdiff_t gaps = of_y0.num_gaps();
        const std::vector data_there{first.view(), second.view()};
        auto solver = solver_on(eddy::Cuda{});

        const auto& found = solver(
            data_there, y0.view(), p.view(),
            eddy::GradientInto<double>{.y0 = of_y0.view(), .p = of_p.view(), .loss = loss.view()});

        CHECK(same_array(of_y0.values(), expected.gradient.y0));
        CHECK(same_array(of_p.values(), expected.gradient.p));
        CHECK(same_bits(loss.values()(4, 0), expected.loss(4)));
        CHECK(same_bits(found.loss.total_of_successful, expected.loss.total_of_successful));
        CHECK(of_y0.num_gaps() == gaps);
        CHECK(same_array(y0.values(), from));
    }
}

TEST_CASE(
    "device memory: too little of it is a sentence, and the same call works when there is more") {
    auto greedy = options;
    greedy.memory_budget = std::size_t{4} << 30;
    greedy.max_steps = 100'000;
    const Array y0 = device_lanes::varied(200'000, 0.2), p = device_lanes::varied(200'000, 0.7);
    const std::vector<Array> target(2, Array(1, 2, 0.25));
    auto solver =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, greedy, eddy::Cuda{});
    static_cast<void>(solver_on(eddy::Cuda{})(data, from, rates));
    const std::size_t before = bytes_free();
    void* most = nullptr;
    eddy::cuda_check(cudaMalloc(&most, before - (std::size_t{64} << 20)));

    const std::string said = support::message_of([&] { static_cast<void>(solver(target, y0, p)); });

    CHECK(said.find("Cuda: this call needs ") == 0);
    CHECK(said.find(" are free; give fewer trajectories") != std::string::npos);
    cudaFree(most);
    const auto& found = solver(target, y0, p);
    CHECK(found.report.success());
    CHECK(cudaGetLastError() == cudaSuccess);
}
