// What a program does with Cuda besides: arrays that lie on the device, calls that are cancelled, many
// lanes, two streams, the same bits from run to run.
#include <eddy/backends/cuda.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <string>
#include <thread>
#include <vector>

#include "device/on_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using device::OnDevice;
using support::Array;
using support::Lorenz;
using support::message_of;

struct Norm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

Array lorenz_parameters(std::ptrdiff_t lanes) {
    Array p(lanes, 3);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        p(lane, 0) = 10;
        p(lane, 1) = 21. * static_cast<double>(lane) / static_cast<double>(lanes);
        p(lane, 2) = 8. / 3;
    }
    return p;
}

const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-6, .atol = 1e-9, .stable_gradients = false};
auto solver_in(cudaStream_t stream) {
    return eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{}, options,
                                 eddy::Cuda{.stream = stream});
}

}  // namespace

TEST_CASE("device: arrays that lie there give the bits of those of the host, in any stream") {
    const Array y0(1009, 3, 1.0), p = lorenz_parameters(1009);
    const OnDevice y0_there(y0), p_there(p);
    auto here = solver_in(nullptr);
    const auto expected = here(y0, p);

    std::vector<std::thread> threads;
    std::vector<int> same(2);
    for (std::size_t i = 0; i < 2; ++i) {
        threads.emplace_back([&, i] {
            cudaStream_t stream;
            eddy::cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            auto there = solver_in(stream);
            same[i] = 1;
            for (int call = 0; call < 20; ++call) {
                const auto& found = there(y0_there.view(), p_there.view());
                same[i] = same[i] && support::same_array(found.gradient.p, expected.gradient.p) &&
                          found.loss.total_of_successful == expected.loss.total_of_successful;
            }
            cudaStreamDestroy(stream);
        });
    }
    for (std::thread& thread : threads) thread.join();

    CHECK(same[0] == 1);
    CHECK(same[1] == 1);
}

TEST_CASE("device: gradients that stay there have the bits of those that come back") {
    const Array y0(1009, 3, 1.0), p = lorenz_parameters(1009);
    const OnDevice y0_there(y0), p_there(p);
    const OnDevice y0_gradient(Array(1009, 3)), p_gradient(Array(1009, 3)), loss(Array(1009, 1));
    auto here = solver_in(nullptr);
    const auto expected = here(y0, p);
    auto there = solver_in(nullptr);

    const auto& found =
        there(y0_there.view(), p_there.view(),
              eddy::GradientInto<double>{
                  .y0 = y0_gradient.view(), .p = p_gradient.view(), .loss = loss.view()});

    CHECK(support::same_array(y0_gradient.values(), expected.gradient.y0));
    CHECK(support::same_array(p_gradient.values(), expected.gradient.p));
    CHECK(loss.values()(1008, 0) == expected.loss(1008));
    CHECK(found.loss.total_of_successful == expected.loss.total_of_successful);
}

TEST_CASE("device: a gradient that a graph has captured runs again on what lies there then") {
    const Array y0(1009, 3, 1.0), row(1, 3, 2.0), other(1, 3, 2.5);
    const OnDevice y0_there(y0), p_there(row);
    const OnDevice y0_gradient(Array(1009, 3)), p_gradient(Array(1, 3)), loss(Array(1009, 1));
    cudaStream_t stream;
    eddy::cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    auto solver = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{}, options,
                                        eddy::Cuda{.stream = stream, .asynchronous = true});
    const auto call = [&]() -> auto& {
        return solver(y0_there.view(), eddy::shared(p_there.view()),
                      eddy::GradientInto<double>{
                          .y0 = y0_gradient.view(), .p = p_gradient.view(), .loss = loss.view()});
    };
    call().report.wait();

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    eddy::cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const auto& found = call();
    eddy::cuda_check(cudaStreamEndCapture(stream, &graph));
    eddy::cuda_check(cudaGraphInstantiate(&executable, graph, 0));
    for (const Array& p : {row, other}) {
        p_there.assign(p);
        eddy::cuda_check(cudaGraphLaunch(executable, stream));
        found.report.wait();
        auto here = solver_in(nullptr);
        const auto& expected = here(y0, eddy::shared(p));
        CHECK(support::same_array(y0_gradient.values(), expected.gradient.y0));
        CHECK(support::same_array(p_gradient.values(), expected.gradient.p));
        CHECK(found.loss.total_of_successful == expected.loss.total_of_successful);
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_CASE("device: lanes in the order of the last call, called and captured, have the same bits") {
    constexpr std::ptrdiff_t lanes = 100'003;
    const Array y0(lanes, 3, 1.0);
    Array p = lorenz_parameters(lanes);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        p(lane, 0) = 10 + 0.1 * static_cast<double>(lane * 40'503 % 8'901);
    const OnDevice y0_there(y0), p_there(p);
    const OnDevice y0_gradient(Array(lanes, 3)), p_gradient(Array(lanes, 3)), loss(Array(lanes, 1));
    cudaStream_t stream;
    eddy::cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto made = [&](bool sorted) {
        return eddy::gradient_solver(
            Lorenz{}, eddy::Tsit5{}, Norm{}, options,
            eddy::Cuda{.stream = stream, .asynchronous = true, .sorted = sorted});
    };
    const auto call = [&](auto& solver) -> auto& {
        return solver(y0_there.view(), p_there.view(),
                      eddy::GradientInto<double>{
                          .y0 = y0_gradient.view(), .p = p_gradient.view(), .loss = loss.view()});
    };
    auto plain = made(false);
    const auto& expected = call(plain);
    expected.report.wait();
    const Array y0_expected = y0_gradient.values(), p_expected = p_gradient.values(),
                loss_expected = loss.values();
    const double total = expected.loss.total_of_successful;
    const auto attempts = expected.report.total_stats();

    auto solver = made(true);
    const auto check = [&](const auto& found) {
        found.report.wait();
        CHECK(support::same_array(y0_gradient.values(), y0_expected));
        CHECK(support::same_array(p_gradient.values(), p_expected));
        CHECK(support::same_array(loss.values(), loss_expected));
        CHECK(found.loss.total_of_successful == total);
        CHECK(found.report.total_stats().accepted == attempts.accepted);
        y0_gradient.assign(Array(lanes, 3));
        p_gradient.assign(Array(lanes, 3));
        loss.assign(Array(lanes, 1));
    };
    for (int again = 0; again < 2; ++again) {
        CAPTURE(again);
        check(call(solver));
    }
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    eddy::cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const auto& found = call(solver);
    eddy::cuda_check(cudaStreamEndCapture(stream, &graph));
    eddy::cuda_check(cudaGraphInstantiate(&executable, graph, 0));
    for (int again = 0; again < 2; ++again) {
        CAPTURE(again, "captured");
        eddy::cuda_check(cudaGraphLaunch(executable, stream));
        check(found);
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_CASE("device: large arrays in chunks, and all devices, have the bits of one launch") {
    constexpr std::ptrdiff_t lanes = 1'000'003;
    const Array y0(lanes, 3, 1.0), p = lorenz_parameters(lanes);
    const OnDevice y0_there(y0), p_there(p);
    int devices = 0;
    eddy::cuda_check(cudaGetDeviceCount(&devices));
    std::vector<int> all;
    for (int device = 0; device < devices; ++device) all.push_back(device);
    const auto solve = [&](const auto& from, const auto& with, const eddy::Cuda& backend) {
        return eddy::solve(Lorenz{}, eddy::Tsit5{}, from, with, options, backend);
    };

    const auto in_one = solve(y0_there.view(), p_there.view(), {});
    const auto in_chunks = solve(y0, p, {});
    const auto by_all = solve(y0, p, eddy::Cuda{.devices = all});

    CHECK(support::same_array(in_chunks.y(), in_one.y()));
    CHECK(support::same_array(by_all.y(), in_one.y()));
    if (devices < 2) WARN("one device here: no lanes were divided");
}

TEST_CASE("device: ten million lanes, and a call that is cancelled among them") {
    constexpr std::ptrdiff_t lanes = 10'000'000;
    const eddy::EnsembleArray<float> y0(lanes, 3, 1.F), p(lanes, 3, 2.F);
    const auto all =
        eddy::solve(Lorenz{}, eddy::Tsit5{}, y0, p, {.t1 = 1, .rtol = 1e-3}, eddy::Cuda{});
    std::ptrdiff_t different = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        different += all.y()(lane, 0) != all.y()(0, 0);

    const auto cut =
        eddy::solve(Lorenz{}, eddy::Tsit5{}, y0, p,
                    {.t1 = 1e4, .rtol = 1e-3, .poll = [] { return false; }}, eddy::Cuda{});

    CHECK(different == 0);
    CHECK(all.success());
    CHECK(cut.result(lanes - 1) == eddy::Result::cancelled);
}

TEST_CASE("device: numbers that are not finite, and wrong devices") {
    Array y0(100, 3, 1.0), p = lorenz_parameters(100);
    y0(77, 2) = std::nan("");
    const OnDevice broken(y0), p_there(p);
    const auto said = [&](const eddy::Cuda& backend, const auto& start, std::size_t budget) {
        auto with = options;
        with.memory_budget = budget;
        return message_of([&] {
            static_cast<void>(eddy::value_and_gradient(Lorenz{}, eddy::Tsit5{}, Norm{}, start,
                                                       p_there.view(), with, backend));
        });
    };

    CHECK(said({}, broken.view(), 1 << 20).find("y0(77, 2) = nan; give finite numbers") !=
          std::string::npos);
    CHECK(said({.device = 1000}, Array(100, 3, 1.0), 1 << 20) != "");
}
