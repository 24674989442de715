#pragma once
// Impulses: what happens to the state between two steps, at times that are known before. A dose is one.
// Test: tests/solve/impulse_plans.cpp, tests/solve/impulses.cpp

#include <concepts>
#include <cstddef>
#include <eddy/solve/ask/save_times.hpp>
#include <eddy/solve/lane/impulse.hpp>
#include <initializer_list>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// A number for each impulse: one for all of them, a list for all trajectories, or `each(array)` of shape
/// (trajectory, impulse).
struct ImpulseNumbers : SaveTimes {
    /// From what `SaveTimes` are made of.
    using SaveTimes::SaveTimes;
    ImpulseNumbers() = default;
    ImpulseNumbers(SaveTimes numbers) : SaveTimes(std::move(numbers)) {}
    template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>) ImpulseNumbers(Number of_all)
        : SaveTimes(Times{static_cast<double>(of_all)}) {}
    ImpulseNumbers(const std::vector<int>& numbers)
        : SaveTimes(std::vector<double>(numbers.begin(), numbers.end())) {}
};

/// What impulses do: the same all of them, or one after another.
struct EDDY_EXPORT ImpulseKinds {
    std::vector<Impulse> values;  ///< one for all, or one for each

    ImpulseKinds(const ImpulseKinds&);
    ImpulseKinds(ImpulseKinds&&) noexcept;
    ImpulseKinds& operator=(const ImpulseKinds&);
    ImpulseKinds& operator=(ImpulseKinds&&) noexcept;
    ~ImpulseKinds();
    ImpulseKinds(Impulse of_all = Impulse::add);
    ImpulseKinds(std::initializer_list<Impulse> of_each) : values(of_each) {}
    ImpulseKinds(std::vector<Impulse> of_each) : values(std::move(of_each)) {}
};

/// Changes of the state between two steps. A step ends at each. Those at one time come in the order in which they are
/// given. Where trajectories have their own, rows are filled up at the end with NaN.
struct Impulses {
    SaveTimes times{};              ///< from t0 to t1, in the order of integration
    ImpulseNumbers components = 0;  ///< the component of y that each changes
    ImpulseNumbers amounts{};       ///< in the unit of y; a factor where it scales
    ImpulseKinds kinds{};           ///< add, replace or scale
    /// If true, save points at the time of an impulse have the state before it; if false, the one after it.
    bool saved_before = false;
};

}  // namespace eddy::inline v0
