#pragma once
// The parameters of the lanes in the places of a Number, as the equation reads them: one Number per
// component where each lane has its own, plain numbers in memory where all lanes share them.

#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
class PlaceParameters {
    using Own = Vec<typename Spec::Number, Spec::parameter_room>;
    using Shared = const typename Problem<Spec>::SharedParameter*;

  public:
    EDDY_HD void begin(const Problem<Spec>& problem) {
        if constexpr (Spec::shares_parameters)
            values_ = problem.shared_p;
        else
            values_ = Own{};
    }
    /// Puts the parameters of a lane into a place.
    EDDY_HD void assign(const Problem<Spec>& problem, int place, std::ptrdiff_t lane) {
        if constexpr (!Spec::shares_parameters) {
            for (int i = 0; i < Spec::parameter_size; ++i)
                set_lane(values_[i], place, problem.load_p(lane, i));
        }
    }
    /// What f takes for p.
    [[nodiscard, gnu::always_inline]] EDDY_HD const auto& values() const { return values_; }

  private:
    std::conditional_t<Spec::shares_parameters, Shared, Own> values_;
};

}  // namespace eddy::inline v0::detail
