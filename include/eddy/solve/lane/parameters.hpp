#pragma once
// The parameters of the lanes in the places of a Number, as the equation reads them: one Number per
// component where each lane has its own, plain numbers in memory where all lanes share them; and what
// parts of their cotangents are added to.
// Test: tests/solve/oracle_gradients.cpp

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
    EDDY_HD void assign(const Problem<Spec>& problem, int place, LaunchLane lane) {
        if constexpr (!Spec::shares_parameters) {
            const LaneParameters<Spec> p(&problem, lane);
            for (int i = 0; i < Spec::parameter_size; ++i) set_lane(values_[i], place, p[i]);
        }
    }
    /// What f takes for p.
    [[nodiscard]] EDDY_INLINE EDDY_HD const auto& values() const { return values_; }

  private:
    std::conditional_t<Spec::shares_parameters, Shared, Own> values_;
};

/// A sum that lanes which do not take part leave alone, whatever their values.
template <class Number, class SumMask, int size>
struct MaskedSum {
    Vec<Number, size>& sum;
    const SumMask& mask;

    EDDY_INLINE EDDY_HD void add(int i, const Number& value) const {
        sum[i] = select(mask, sum[i] + value, sum[i]);
    }
};

/// The sums of one place.
template <class Number, int size>
struct PlaceSums {
    Vec<Number, size>& sums;
    int place;

    EDDY_HD void add(int i, const LaneOf<Number>& value) const {
        set_lane(sums[i], place, get_lane(sums[i], place) + value);
    }
};

}  // namespace eddy::inline v0::detail
