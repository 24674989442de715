#pragma once
// What solver objects hold, whatever they compute: a method, options, a controller and a backend, and the memory
// that stays from call to call.
// Test: tests/solve/solver_objects.cpp

#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/ask/choose_machine.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/new_values.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/ranks_of.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

/// `Self` derives from it: Self::name is how messages call its calls, Self::require_possible(options) what it asks
/// of options beside a t1.
template <class Self, class Field, class Method, class... Extras>
class SolverObject : public NewValues<SolverObject<Self, Field, Method, Extras...>> {
    static_assert(
        is_method<Method>,
        "solver object: the method must be a struct with an order and a tableau, such as Tsit5");

  public:
    /// One to be assigned to: without options there is no t1, and a call says so.
    SolverObject() = default;
    /// A solver object whose extras are as their types make them.
    explicit SolverObject(const SolveOptions& options) requires(sizeof...(Extras) > 0)
        : SolverObject(options, Extras{}...) {}
    explicit SolverObject(const SolveOptions& options, const Extras&... extras)
        : SolverObject(Method{}, options, extras...) {}
    /// A solver object of a method that has members to choose.
    SolverObject(const Method& method, const SolveOptions& options, const Extras&... extras)
        : method_(method),
          options_(with_end(options, Self::name)),
          backend_(extra_or_default<Backend>(computing(extras)...)),
          controller_(extra_or_default<Controller>(extras...)),
          ranks_(ranks_of(extras...)) {
        Self::require_possible(options_);
    }

  protected:
    using Choice = ExtrasOf<Field, Method, Extras...>;
    using Backend = typename Choice::Backend;
    using Controller = typename Choice::Controller;

    static void require_possible(const SolveOptions&) {}

    /// Checks what a call of this object asks to go together.
    template <CallKind kind, class Y0>
    static consteval bool check_combination() {
        return detail::check_combination<kind, Y0, Field, Method, Choice>();
    }

    /// What calls of this kind, with such parameters, are solved by: the backend of this object, or the one that is
    /// chosen where none is named.
    template <CallKind kind, class Parameters>
    using BackendFor = BackendOfCall<kind, Field, Method, Choice, Parameters>;
    template <class Chosen>
    decltype(auto) compute(std::type_identity<Chosen>, auto& workspace,
                           const Cancellation& cancelled, const char* where) {
        if constexpr (std::is_same_v<Chosen, Backend>)
            return workspace.run(options_, backend_, kept_, cancelled, where);
        else
            return workspace.run(options_, Chosen{},
                                 kept_of_chosen_.template get<typename Chosen::Kept>(), cancelled,
                                 where);
    }

    /// The work of one call: on this process, or as all ranks of the backend do it.
    template <class Work>
    decltype(auto) in_call(const char* where, const Work& work) {
        const OneCall only(workspace_, where);
        return ranks_.in_call(where, work);
    }

    /// The memory that the backend computes in.
    [[nodiscard]] auto memory() { return memory_for(backend_, kept_); }
    /// The workspace of this type, with the problem of a call.
    template <class CallWorkspace, class Y0, class Parameters>
    [[nodiscard]] CallWorkspace& prepare(const Y0& y0, const Parameters& p, const char* where) {
        require_argument(!(HasTable<Parameters> && Choice::has_ranks),
                         "{}: parameters(own, shared) or selected(theta, index) over ranks; give "
                         "each rank an array of its parameters",
                         where);
        if (HasInputs<Field> && returns_early(memory()))
            require_asynchronous(Features().with(Feature::inputs), where);
        auto& workspace = workspace_.get<CallWorkspace>();
        workspace.prepared.take_method(method_, where);
        workspace.prepared.edition = edition_;
        workspace.prepared.prepare(options_, controller_, y0, p, where, memory());
        const Features asked =
            Features()
                .with(Feature::own_times, workspace.prepared.times().is_own)
                .with(Feature::own_times_of_joint,
                      steps_jointly<Controller> && workspace.prepared.times().is_own)
                .with(Feature::impulses, workspace.prepared.times().num_impulses > 0);
        require_possible_on(machine_of<Backend, EnsembleScalarOf<Y0>>, asked, where);
        if (returns_early(memory())) require_asynchronous(asked, where);
        workspace.prepared.ranks = share(workspace.prepared.problem, where);
        return workspace;
    }
    /// The share of this rank: who the ranks are, and what they must all have been asked.
    template <class Spec>
    [[nodiscard]] RankShare share([[maybe_unused]] const Problem<Spec>& problem,
                                  [[maybe_unused]] const char* where) {
        RankShare share;
        if constexpr (Choice::has_ranks) {
            require_possible_on(
                Machine::ranks,
                Features()
                    .with(Feature::gather_sums, bool(options_.gather_sums))
                    .with(Feature::early_return, returns_early(memory()))
                    .with(Feature::steps_of_stolen, options_.save_steps && steals())
                    .with(Feature::times_of_stolen, problem.times.own != nullptr && steals())
                    .with(Feature::impulses_of_stolen, problem.times.num_impulses > 0 && steals()),
                where);
            share.group = ranks_.get();
            share.moves_lanes = steals();
            share.print = {{print_of_version(), print_of_text(where),
                            print_of_types<Field, Method, Controller, typename Spec::Scalar,
                                           typename Choice::Function>() ^
                                print_of_equation<Field>(),
                            print_of(options_) ^ (steals() ? print_of_text("stealing") : 0),
                            print_of_parameters(problem)}};
        }
        return share;
    }
    /// Do ranks take lanes from each other?
    [[nodiscard]] bool steals() const {
        if constexpr (requires { backend_.steals; })
            return backend_.steals;
        else
            return false;
    }
    template <class Spec>
    [[nodiscard]] static std::uint64_t print_of_parameters(const Problem<Spec>& problem) {
        Fingerprint print;
        print.add(std::uint64_t{Spec::shares_parameters});
        if (Spec::shares_parameters && is_of_host<typename Backend::Memory>) {
            for (int i = 0; i < Spec::parameter_size; ++i)
                print.add(static_cast<double>(problem.p(0, i)));
        }
        return print.value();
    }

  private:
    friend NewValues<SolverObject>;
    template <class Replace>
    void renew(const char* where, const Replace& replace) {
        const OneCall only(workspace_, where);
        replace(options_);
        ++edition_;
    }

  protected:
    [[no_unique_address]] Method method_{};
    SolveOptions options_;
    std::uint64_t edition_ = 0;  // grows where values of the options are replaced
    Backend backend_{};
    Controller controller_{};
    RankLink ranks_;
    typename Backend::Kept kept_;
    Workspace kept_of_chosen_, workspace_;
};

}  // namespace eddy::inline v0::detail
