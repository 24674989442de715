#pragma once
// What a call owns on the host, where the kernels of a device reach it: copied there before a launch,
// and what they have written back after it. Arrays of the caller's lie there already.

#include <cstddef>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

template <class Memory>
class Mirrors {
  public:
    /// A memory that keeps its pieces from call to call begins with the first one again.
    explicit Mirrors(const Memory& memory) : memory_(memory) {
        if constexpr (requires { memory_.begin_call(); }) memory_.begin_call();
    }
    Mirrors(const Mirrors&) = delete;
    Mirrors& operator=(const Mirrors&) = delete;
    ~Mirrors() {
        for (const Mirror& mirror : mirrors_) {
            if (mirror.there) memory_.release(mirror.there);
        }
    }

    /// What kernels read.
    template <class T>
    [[nodiscard]] const T* in(const T* here, std::ptrdiff_t count) {
        return static_cast<const T*>(add(here, nullptr, count, sizeof(T)));
    }
    /// An array of the caller's that kernels read: as it is, where it lies there already.
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> in(const EnsembleView<const Real>& view) {
        if (view.first == nullptr || lies_in(memory_, view.first)) return view;
        const EnsembleView<const Real> dense{nullptr, view.num_lanes, view.num_components, 1,
                                             view.num_lanes};
        EnsembleView<const Real> there = dense;
        const std::ptrdiff_t count = view.num_lanes * view.num_components;
        if (is_dense(view)) {
            there.first = in(view.first, count);
        } else {
            const EnsembleArray<Real> copy(view);
            there.first = in(copy.data(), count);
        }
        return there;
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<const Real>* all_in(const EnsembleView<const Real>* views,
                                                         std::ptrdiff_t count) {
        std::vector<EnsembleView<const Real>> there(views, views + (views ? count : 0));
        for (EnsembleView<const Real>& view : there) view = in(view);
        return in(there.data(), static_cast<std::ptrdiff_t>(there.size()));
    }
    /// What kernels read and write.
    template <class T>
    [[nodiscard]] T* out(T* here, std::ptrdiff_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        return static_cast<T*>(add(here, here, count, sizeof(T)));
    }
    template <class Real>
    [[nodiscard]] EnsembleView<Real> out(EnsembleView<Real> view) {
        if (view.first == nullptr || memory_.holds(view.first)) return view;
        require_argument(is_dense(view) || view.num_lanes <= 1,
                         "outputs: an array with gaps is to be filled from {}; give one whose "
                         "columns are contiguous",
                         Memory::name);
        view.first = out(view.first, view.num_lanes * view.num_components);
        return view;
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<Real>* out(const EnsembleView<Real>* views,
                                                std::ptrdiff_t count) {
        std::vector<EnsembleView<Real>> there(views, views + (views ? count : 0));
        for (EnsembleView<Real>& view : there) view = out(view);
        return in(there.data(), static_cast<std::ptrdiff_t>(there.size()));
    }
    /// Brings back what kernels have written.
    void fetch() const {
        for (const Mirror& mirror : mirrors_) {
            if (mirror.back_to) memory_.copy_out(mirror.back_to, mirror.there, mirror.num_bytes);
        }
    }

  private:
    template <class Real>
    [[nodiscard]] static bool is_dense(const EnsembleView<Real>& view) {
        return view.lane_stride == 1 &&
               (view.num_components <= 1 || view.component_stride == view.num_lanes);
    }

    struct Mirror {
        void* there;
        void* back_to;  // null: nothing is written
        std::size_t num_bytes;
    };
    void* add(const void* here, void* back_to, std::ptrdiff_t count, std::size_t size) {
        if (here == nullptr || count <= 0) return nullptr;
        const std::size_t num_bytes = static_cast<std::size_t>(count) * size;
        Mirror& mirror = mirrors_.emplace_back(Mirror{nullptr, back_to, num_bytes});
        mirror.there = memory_.allocate(num_bytes);
        memory_.copy_in(mirror.there, here, num_bytes);
        return mirror.there;
    }

    Memory memory_;
    std::vector<Mirror> mirrors_;
};

template <class Spec, class Memory>
[[nodiscard]] Problem<Spec> mirrored(Problem<Spec> problem, Mirrors<Memory>& mirrors) {
    LaneTimes& times = problem.times;
    times.tstops = mirrors.in(times.tstops, times.num_tstops);
    times.saves = mirrors.in(times.saves, times.num_saves);
    times.save_time = mirrors.in(times.save_time, times.num_saves);
    problem.shared_p = mirrors.in(problem.shared_p, Spec::parameter_size);
    problem.y0 = mirrors.in(problem.y0);
    problem.p = mirrors.in(problem.p);
    problem.y0_tangent = mirrors.in(problem.y0_tangent);
    problem.p_tangent = mirrors.in(problem.p_tangent);
    if constexpr (Spec::has_noise)
        problem.noise.first_cell = mirrors.in(problem.noise.first_cell, times.num_tstops);
    return problem;
}

template <class Spec, class Memory>
[[nodiscard]] LossSeeds<Spec> mirrored(LossSeeds<Spec> seeds, const LaunchPlan& plan,
                                       std::ptrdiff_t num_saves, Mirrors<Memory>& mirrors) {
    using Real = typename Spec::Scalar;
    seeds.data = mirrors.all_in(seeds.data, num_saves);
    // One number has a stride of its own where it is the only one.
    const std::ptrdiff_t stride = plan.num_lanes == 1 ? 1 : seeds.loss_stride;
    seeds.loss = mirrors.out(EnsembleView<Real>{seeds.loss, plan.num_lanes, 1, stride, 0}).first;
    return seeds;
}
template <class Spec, int num_outputs, class Memory>
[[nodiscard]] GivenSeeds<Spec, num_outputs> mirrored(GivenSeeds<Spec, num_outputs> seeds,
                                                     const LaunchPlan&, std::ptrdiff_t num_saves,
                                                     Mirrors<Memory>& mirrors) {
    seeds.cotangents = mirrors.all_in(seeds.cotangents, num_saves);
    return seeds;
}

template <class Spec, class Observable, class Memory>
[[nodiscard]] auto mirrored(SolveKernel<Spec, Observable, StepArrays<typename Spec::Scalar>> kernel,
                            const LaunchPlan& plan, Mirrors<Memory>& mirrors) {
    if (auto& steps = kernel.steps; steps.is_wanted()) {
        const std::int64_t num_steps = steps.first[plan.num_lanes];
        steps.first = mirrors.in(steps.first, plan.num_lanes + 1);
        steps.count = mirrors.out(steps.count, plan.num_lanes);
        steps.t = mirrors.out(steps.t, num_steps);
        steps.y = mirrors.out(steps.y, num_steps * Spec::state_size);
    }
    const std::ptrdiff_t num_saves = kernel.problem.times.num_saves;
    kernel.problem = mirrored(kernel.problem, mirrors);
    kernel.outcomes = mirrors.out(kernel.outcomes, plan.num_lanes);
    kernel.saved.y = mirrors.out(kernel.saved.y, num_saves);
    kernel.saved.tangent = mirrors.out(kernel.saved.tangent, Spec::is_dual ? num_saves : 0);
    kernel.tangent_marks =
        mirrors.out(kernel.tangent_marks, kernel.tangent_marks ? plan.num_lanes : 0);
    return kernel;
}

template <class Spec, class Objective, class Seeds, class StoresOf, bool with_times, class Memory>
[[nodiscard]] auto mirrored(GradientKernel<Spec, Objective, Seeds, StoresOf, with_times> kernel,
                            const LaunchPlan& plan, Mirrors<Memory>& mirrors) {
    kernel.seeds = mirrored(kernel.seeds, plan, kernel.problem.times.num_saves, mirrors);
    kernel.problem = mirrored(kernel.problem, mirrors);
    kernel.outcomes = mirrors.out(kernel.outcomes, plan.num_lanes);
    auto& target = kernel.target;
    for (auto* view : {&target.y0, &target.p, &target.y0_tangent, &target.p_tangent, &target.t0,
                       &target.t1, &target.save_at})
        *view = mirrors.out(*view);
    const std::ptrdiff_t rows = Spec::sums_by_lane ? num_blocks(plan.num_lanes) : plan.num_groups();
    kernel.shared.parts = mirrors.out(kernel.shared.parts, plan.num_lanes * Spec::parameter_size);
    kernel.shared.sums = mirrors.out(kernel.shared.sums, rows * Spec::parameter_size);
    kernel.costs = mirrors.out(kernel.costs, plan.num_workers);
    kernel.marks = mirrors.out(kernel.marks, kernel.marks ? plan.num_lanes : 0);
    return kernel;
}

}  // namespace eddy::inline v0::detail
