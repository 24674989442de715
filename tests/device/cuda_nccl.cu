// A gradient over several GPUs has the bits of one.
#include "support/catch.hpp"

#if __has_include(<nccl.h>)
#include <eddy/backends/nccl.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "solve/problems.hpp"

using support::Array;

TEST_CASE("nccl: loss and shared gradient of several GPUs have the bits of one") {
    int devices = 0;
    eddy::cuda_check(cudaGetDeviceCount(&devices));
    std::vector<int> all;
    for (int device = 0; device < devices; ++device) all.push_back(device);
    const std::ptrdiff_t lanes = 10'000;
    Array y0(lanes, 2);
    const Array data(1, 2, 0.25);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.1 + 0.1 * static_cast<double>(lane % 17);
        y0(lane, 1) = 1.5 - 0.003 * static_cast<double>(lane % 131);
    }
    const std::vector<double> p{1.1, 0.7};
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-4, .atol = 1e-6};
    const auto of = [&](const Array& some, const auto& backend) {
        return eddy::value_and_gradient(support::Forced{}, eddy::Bosh3{}, support::HalfSquares{},
                                        data, some, eddy::shared(p), options, backend);
    };
    const auto wanted = of(y0, eddy::Cuda{});
    std::vector<int> right(all.size());
    eddy::on_each_device(all, [&](const eddy::Nccl& gpu) {
        const auto [first, count] = eddy::rank_rows(gpu, lanes);
        const Array mine(eddy::EnsembleView<const double>{y0.data() + first, count, 2, 1, lanes});
        const auto result = of(mine, gpu);
        right[static_cast<std::size_t>(gpu.rank())] =
            support::same_bits(result.loss.total, wanted.loss.total) &&
            support::same_bits(result.gradient.p(0, 0), wanted.gradient.p(0, 0)) &&
            support::same_bits(result.gradient.p(0, 1), wanted.gradient.p(0, 1));
    });
    for (const int is_right : right) CHECK(is_right == 1);
}
#else
TEST_CASE("nccl: there is no NCCL here") { SUCCEED("compiled without nccl.h"); }
#endif
