#pragma once
// A machine that solves. It names the type of number and the team that lanes are computed in, and
// turns a plan into a launch: kernel(team, arena) for every group of lanes, with an arena of
// arena_bytes<Team>(kernel) bytes for each worker. No numerics: the loops are one text
// (group/group_forward.hpp, group/group_gradient.hpp). Two have a text of their own: Serial, which
// judges it, and Tiles, whose states are too wide for it.
// Test: tests/solve/contracts.cpp

#include <concepts>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/call/unfinished.hpp>
#include <eddy/solve/group/team.hpp>

namespace eddy::inline v0 {

namespace detail {

/// What a backend is asked with: not what it is called with.
struct AnySpec {
    static constexpr int num_places = 1, state_size = 1;
    static constexpr bool is_adaptive = true;
    using Lane = double;
};
struct AnyKernel {
    using Spec = AnySpec;
};

}  // namespace detail

template <class B>
concept Backend = requires(const B& backend, typename B::Kept& kept, const LaunchPlan& plan,
                           const detail::AnyKernel& kernel, detail::CallLink& call,
                           const detail::GradientPlan& of_gradient, std::ptrdiff_t count) {
    typename B::backend_tag;
    typename B::template Lanes<float>;  // the type of number that lanes of float are computed in
    typename B::template Lanes<double>;
    requires detail::Team<typename B::template Team<detail::AnySpec>>;
    // Where its kernels read and write. Kernels refer to arrays of the host: where that is another
    // memory, `launch` brings there, and back, what a call owns (mirrors.hpp).
    requires std::same_as<typename B::Memory, HostMemory> || DeviceMemory<typename B::Memory>;
    { backend.memory() } -> std::same_as<typename B::Memory>;
    // What a solver object keeps for the backend from call to call: threads, arenas. A copy of it
    // begins empty.
    requires std::default_initializable<typename B::Kept> && std::copyable<typename B::Kept>;
    // How many groups it works on at a time, of so many.
    { backend.num_workers(count) } -> std::same_as<std::ptrdiff_t>;
    // The stores of the placement, stores(worker), for gradients of this plan.
    backend.stores(of_gradient, count, kept);
    // Runs the kernel on all groups, and returns when they are done, but see DeviceBackend. What a worker throws is thrown.
    { backend.launch(plan, kernel, call, kept) } -> std::same_as<void>;
};

/// A backend that computes in a memory of its own.
template <class B>
concept DeviceBackend = Backend<B> && DeviceMemory<typename B::Memory> &&
    requires(const B& backend, typename B::Kept& kept, const MemoryBudget& budget,
             const detail::AnyKernel& job, detail::CallLink& call, std::ptrdiff_t count) {
    typename B::template Time<float>;  // what lanes of float keep time in
    typename B::template Time<double>;
    { backend.memory(kept) } -> std::same_as<typename B::Memory>;
    { backend.memory_limits(budget, kept) } -> std::same_as<detail::MemoryLimits>;
    // Groups that it works on at a time depend on what a lane takes.
    {
        backend.template num_workers_for<detail::AnySpec, true>(count)
        } -> std::same_as<std::ptrdiff_t>;
    // Calls return before they are done, where `asynchronous` says so; what the last one has left.
    { backend.asynchronous } -> std::convertible_to<bool>;
    { backend.unfinished(kept) } -> std::same_as<detail::Unfinished>;
    // Has the last gradient added up what may be added over its lanes? Has it marked any?
    { backend.has_added_up(kept) } -> std::same_as<bool>;
    { backend.has_marked(kept) } -> std::same_as<bool>;
    backend.bring_addends(kept);  // of its shared parameters, to the host
    // Several paths to a lane that stay there, in chunks of so many bytes (group/path_means.hpp).
    backend.launch_paths(job, call, kept);
    { backend.bytes_of_chunk() } -> std::same_as<std::size_t>;
};

}  // namespace eddy::inline v0
