// What an extension module of Python would have: solves and gradients of Lorenz' equation for tensors that come
// and go by DLPack. dlpack_torch.py calls it with those of PyTorch and JAX. Each function gives back null, or a
// sentence that the caller frees with `free_text`.
#include <cstring>
#include <eddy/backends/cuda.hpp>
#include <eddy/interop/dlpack.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rk4.hpp>
#include <exception>
#include <memory>

#include "solve/problems.hpp"

using eddy::dlpack::ManagedTensor;
using eddy::dlpack::ManagedTensorVersioned;

/// A managed tensor out of a capsule, of the old kind or of that with a version.
struct Incoming {
    const void* managed;
    int has_version;

    template <class Real>
    [[nodiscard]] auto view() const {
        return has_version ? eddy::from_dlpack<Real, eddy::Cuda>(
                                 *static_cast<const ManagedTensorVersioned*>(managed))
                           : eddy::from_dlpack<Real, eddy::Cuda>(
                                 *static_cast<const ManagedTensor*>(managed));
    }
};

namespace {

struct FreeOnDevice {
    void operator()(double* numbers) const { cudaFree(numbers); }
};

/// Room on the device, which whoever takes the tensor frees.
struct Outgoing {
    std::shared_ptr<double> numbers;
    std::ptrdiff_t lanes, components;

    Outgoing(std::ptrdiff_t num_lanes, std::ptrdiff_t num_components)
        : lanes(num_lanes), components(num_components) {
        double* there = nullptr;
        eddy::cuda_check(cudaMalloc(reinterpret_cast<void**>(&there),
                                    static_cast<std::size_t>(lanes * components) * sizeof(double)));
        numbers.reset(there, FreeOnDevice{});
    }
    [[nodiscard]] auto view() const { return eddy::on_device(numbers.get(), lanes, components); }
    [[nodiscard]] ManagedTensor* tensor() const {
        const eddy::EnsembleView<double> plain{numbers.get(), lanes, components, 1, lanes};
        return eddy::to_dlpack(plain, {eddy::dlpack::cuda, 0}, numbers);
    }
};

template <class Work>
char* told(const Work& work) {
    try {
        work();
        return nullptr;
    } catch (const std::exception& error) {
        return strdup(error.what());
    }
}
eddy::SolveOptions by_steps(double t1, int num_steps) { return {.t1 = t1, .dt0 = t1 / num_steps}; }

}  // namespace

extern "C" {

void free_text(char* text) { std::free(text); }

/// The states at t1 of (lane, 3) tensors, written into a tensor of the caller's.
char* solve_into(Incoming y0, Incoming p, Incoming y, void* stream, double t1, int num_steps) {
    return told([&] {
        auto solver =
            eddy::ensemble_solver(support::Lorenz{}, eddy::RK4{}, by_steps(t1, num_steps),
                                  eddy::Cuda{.stream = static_cast<cudaStream_t>(stream)});
        static_cast<void>(solver(y0.view<const double>(), p.view<const double>(),
                                 eddy::SolutionInto<double>{.y = y.view<double>()}));
    });
}

/// Half the squared distance of states at t1 and `target`: the gradient by y0 is written into a tensor of the
/// caller's, that by shared p is a new one on the device, and losses (lane, 1) are a new one of the host.
char* gradient_of(Incoming target, Incoming y0, Incoming p, Incoming y0_gradient, void* stream,
                  double t1, int num_steps, ManagedTensor** p_gradient, ManagedTensor** losses) {
    return told([&] {
        const auto start = y0.view<const double>();
        auto solver = eddy::gradient_solver(
            support::Lorenz{}, eddy::RK4{}, support::HalfSquares{}, by_steps(t1, num_steps),
            eddy::Cuda{.stream = static_cast<cudaStream_t>(stream)});
        const Outgoing of_p(1, 3);
        const auto& found =
            solver(target.view<const double>(), start, eddy::shared(p.view<const double>()),
                   eddy::GradientInto<double>{.y0 = y0_gradient.view<double>(), .p = of_p.view()});
        eddy::EnsembleArray<double> loss(start.num_lanes, 1);
        for (std::ptrdiff_t lane = 0; lane < start.num_lanes; ++lane)
            loss(lane, 0) = found.loss(lane);
        *p_gradient = of_p.tensor();
        *losses = eddy::to_dlpack(std::move(loss));
    });
}

}  // extern "C"
