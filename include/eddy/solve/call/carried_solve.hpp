#pragma once
// A solve whose steps carry tangents in all directions along (lane/carried_tangents.hpp): each trajectory is one lane.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/solve/call/sensitivity_result.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solve/lane/carried_tangents.hpp>
#include <limits>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// Do the steps of a call carry tangents? Those of the methods of lane/method_tangents.hpp, on the machines that say so.
template <int num_directions, class Field, class Method, class... Extras>
inline constexpr bool carries_in_call = [] {
    using Choice = ExtrasOf<Field, Method, Extras...>;
    if constexpr (requires { requires Choice::Backend::carries_tangents; } && !Choice::has_ranks &&
                  num_directions > 0)
        return carries_tangents<Field, Method, num_directions>;
    else
        return false;
}();

template <class Field, class Method, class Directions, class... Extras>
class CarriedSolver;
template <class Field, class Method, bool of_p, bool of_y0, class... Extras>
class CarriedSolver<Field, Method, Along<of_p, of_y0>, Extras...>
    : public SolverObject<CarriedSolver<Field, Method, Along<of_p, of_y0>, Extras...>, Field,
                          Method, Extras...> {
    using Object = SolverObject<CarriedSolver, Field, Method, Extras...>;
    using typename Object::Backend, typename Object::Choice, typename Object::Controller;
    using Observable = ObservableOf<Field, typename Choice::Function>;

  public:
    using Object::Object;

    /// Solves, and hands all that was found to `result`.
    template <class Y0, class Parameters, class Real>
    void operator()(const Y0& y0, const Parameters& p, const Cancellation& cancelled,
                    Sensitivities<Real>& result) {
        using Spec = SpecOfCall<Backend, Field, Method, Controller, Y0, Parameters, false>;
        using Follower = CarriedTangents<Spec, Observable, of_p, of_y0>;
        using Work = SolveWorkspace<Spec, Observable, Follower>;
        this->in_call(
            name, [&]() -> auto& {
                auto& [carried, marks] = memory_.template get<Kept<Real>>();
                auto& work = this->template prepare<Work>(y0, p, name);
                work.take(SolutionInto<Real>{}, this->memory(), name);
                const std::ptrdiff_t lanes = work.prepared.num_lanes(),
                                     of_lanes = lanes * Follower::num_directions;
                const auto saves = static_cast<std::ptrdiff_t>(work.prepared.times().num_saves);
                carried.assign(static_cast<std::size_t>(saves * Work::num_outputs * of_lanes),
                               std::numeric_limits<Real>::quiet_NaN());
                marks.assign(static_cast<std::size_t>(of_lanes), TangentMark{});
                work.follower = {};
                work.follower.saved = carried.data();
                work.follower.marks = marks.data();
                work.follower.num_lanes = lanes;
                result.take(work.run(this->options_, this->backend_, this->kept_, cancelled, name),
                            carried, marks, Follower::num_directions);
                return result;
            });
    }

  private:
    friend Object;
    static constexpr const char* name = "sensitivities";
    template <class Real>
    struct Kept {
        std::vector<Real> carried;
        std::vector<TangentMark> marks;
    };
    Workspace memory_;
};

}  // namespace detail

}  // namespace eddy::inline v0
