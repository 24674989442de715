// What the host does in a call whose arrays and results lie on a device, without the device: how often it
// calls the runtime, how often it takes memory, and how long it is busy. Lorenz, a solver object's later
// calls. What CUDA itself takes for a launch, a copy or a wait comes on top.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <new>
#include <string>
#include <vector>

#include "idle_runtime.hpp"
#include "support/equations.hpp"

namespace {

std::size_t num_taken = 0;  // pieces of the host's memory

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t num_bytes) {
    ++num_taken;
    if (void* const piece = std::malloc(num_bytes ? num_bytes : 1)) return piece;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* piece) noexcept { std::free(piece); }
[[gnu::noinline]] void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }

namespace {

using benchmark::IdleDevice;
using benchmark::IdleRuntime;
using support::Lorenz;

struct Norm {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

/// Addresses of an array on the device.
class OnDevice {
  public:
    OnDevice(std::ptrdiff_t lanes, std::ptrdiff_t columns) : lanes_(lanes), columns_(columns) {
        static_cast<void>(IdleRuntime::allocate(
            first_, static_cast<std::size_t>(lanes * columns) * sizeof(double)));
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() { IdleRuntime::release(first_); }
    [[nodiscard]] auto view() const {
        return eddy::ViewIn<IdleDevice::Memory, double>{
            {static_cast<double*>(first_), lanes_, columns_, 1, lanes_}};
    }

  private:
    std::ptrdiff_t lanes_, columns_;
    void* first_ = nullptr;
};

/// A row of the table: the shortest of many calls after two.
template <class Call>
void row(const std::string& what, std::ptrdiff_t lanes, const Call& call) {
    using Clock = std::chrono::steady_clock;
    call(), call();
    double shortest = 1e9;
    for (int round = 0; round < 300; ++round) {
        IdleRuntime::calls = {};
        num_taken = 0;
        const auto start = Clock::now();
        call();
        const std::chrono::duration<double, std::micro> time = Clock::now() - start;
        if (time.count() < shortest) shortest = time.count();
    }
    const benchmark::RuntimeCalls& calls = IdleRuntime::calls;
    std::printf("| %s | %td | %.1f | %d | %d | %zu | %d | %d | %d | %zu |\n", what.c_str(), lanes,
                shortest, calls.launches, calls.copies, calls.bytes_copied, calls.waits,
                calls.questions, calls.allocations, num_taken);
}

void rows(std::ptrdiff_t lanes, bool asynchronous) {
    const OnDevice y0(lanes, 3), p(lanes, 3), y(lanes, 3), y0_gradient(lanes, 3),
        p_gradient(lanes, 3), weights(1, 3), weights_gradient(1, 3), loss(lanes, 1);
    const eddy::SolveOptions options{
        .t1 = 1, .rtol = 1e-6, .atol = 1e-9, .stable_gradients = false};
    const IdleDevice device{.asynchronous = asynchronous};
    const std::string how = asynchronous ? ", asynchronous" : "";
    using Into = eddy::GradientInto<double>;

    auto solver = eddy::ensemble_solver(Lorenz{}, eddy::Tsit5{}, options, device);
    row("solve" + how, lanes, [&] {
        static_cast<void>(solver(y0.view(), p.view(), eddy::SolutionInto<double>{.y = y.view()}));
    });
    auto gradient = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{}, options, device);
    row("gradient" + how, lanes, [&] {
        static_cast<void>(
            gradient(y0.view(), p.view(),
                     Into{.y0 = y0_gradient.view(), .p = p_gradient.view(), .loss = loss.view()}));
    });
    auto training = eddy::gradient_solver(Lorenz{}, eddy::Tsit5{}, Norm{}, options, device);
    row("gradient, shared parameters" + how, lanes, [&] {
        static_cast<void>(training(
            y0.view(), eddy::shared(weights.view()),
            Into{.y0 = y0_gradient.view(), .p = weights_gradient.view(), .loss = loss.view()}));
    });
}

}  // namespace

int main() {
    std::printf(
        "| call, arrays on the device | lanes | host, us | launches | copies | bytes | waits | "
        "questions | device memory taken | host memory taken |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const std::ptrdiff_t lanes : {1024, 32768, 524288}) {
        rows(lanes, true);
        rows(lanes, false);
    }
    return 0;
}
