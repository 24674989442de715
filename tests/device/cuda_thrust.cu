// Vectors of Thrust on a GPU, in every call: the text of tests/interop/thrust.cpp with CUDA's system.
#include "solve/problems.hpp"

using Here = support::Array;

#include <eddy/interop/thrust.hpp>

#include "interop/thrust_calls.hpp"

TEST_CASE("device: a call is put into the stream of an execution policy") {
    cudaStream_t stream;
    eddy::cuda_check(cudaStreamCreate(&stream));
    CHECK(eddy::backend_of(thrust::cuda::par.on(stream)).stream == stream);
    CHECK(eddy::backend_of(thrust::cuda::par_nosync.on(stream)).stream == stream);
    CHECK(eddy::backend_of(thrust::device).stream == cudaStreamLegacy);
    eddy::cuda_check(cudaStreamDestroy(stream));
}

static_assert(std::same_as<decltype(eddy::backend_of(thrust::device)), eddy::Cuda>);
static_assert(
    std::same_as<decltype(eddy::backend_of(thrust::universal_vector<float>())), eddy::Cuda>);
static_assert(std::same_as<decltype(eddy::backend_of(thrust::host_vector<float>())), eddy::Serial>);
static_assert(std::same_as<decltype(eddy::view(std::declval<thrust::host_vector<float>&>(), 2, 3)),
                           eddy::EnsembleView<float>>);
