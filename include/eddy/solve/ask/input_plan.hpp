#pragma once
// The inputs of a call, checked and turned into the polynomials that steps read, and the way back from cotangents of their
// coefficients to those of the values.
// Test: tests/solve/inputs.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/inputs.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/lane/input_tables.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// What a field reads of inputs; size 0: nothing.
struct InputUse {
    int size = 0, degree = 0;
    int room = 0;  // numbers of one piece
    bool passes_knots = false, reads_slopes = false;
};

/// Room for the numbers of one row, kept from call to call.
struct EDDY_EXPORT InputRoom {
    std::vector<double> x, m, delta, diagonal, sums;

    InputRoom();
    InputRoom(const InputRoom&);
    InputRoom(InputRoom&&) noexcept;
    InputRoom& operator=(const InputRoom&);
    InputRoom& operator=(InputRoom&&) noexcept;
    ~InputRoom();
};

template <class Real>
struct EDDY_EXPORT InputPlan {
    EnsembleArray<Real> coefficients;
    std::vector<std::int32_t> pieces;
    InputRoom room;

    InputPlan();
    InputPlan(const InputPlan&);
    InputPlan(InputPlan&&) noexcept;
    InputPlan& operator=(const InputPlan&);
    InputPlan& operator=(InputPlan&&) noexcept;
    ~InputPlan();

    [[nodiscard]] InputTables<Real> view() const { return {coefficients.view(), pieces.data()}; }
};

extern template struct InputPlan<float>;
extern template struct InputPlan<double>;

/// Checks the inputs of the options beside a plan of times, of which their knots are jumps.
template <class Real>
[[nodiscard]] EDDY_EXPORT InputPlan<Real> plan_inputs(const Inputs& inputs, const InputUse& use,
                                                      const TimePlan& times, const char* where);
/// Makes the coefficients of a plan once more, where only values and slopes at knots are others.
template <class Real>
EDDY_EXPORT void renew_inputs(const Inputs& inputs, const InputUse& use, InputPlan<Real>& plan,
                              const char* where);
/// Checks that inputs of trajectories' own are those of so many.
EDDY_EXPORT void require_inputs_of(const Inputs& inputs, std::ptrdiff_t num_lanes,
                                   const char* where);
/// From cotangents of coefficients (trajectory, piece · number) to those of the values, in the order of the
/// trajectories where these are shared.
template <class Real>
EDDY_EXPORT void pull_inputs(const Inputs& inputs, const InputUse& use,
                             const EnsembleArray<Real>& of_coefficients, InputRoom& room,
                             EnsembleArray<Real>& of_values);

}  // namespace eddy::inline v0::detail
