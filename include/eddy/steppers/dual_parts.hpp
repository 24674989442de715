#pragma once
// Vectors of dual numbers in parts: where values and tangents are computed one after another.
// Test: tests/steppers/esdirk.cpp, tests/solve/event_tangents.cpp

#include <eddy/ad/dual.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0::detail {

/// Parameters of dual numbers without their tangents.
template <class Parameters>
struct ValuesOfParameters {
    const Parameters& p;

    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto operator[](int i) const {
        if constexpr (requires { p[i].tangent; })
            return p[i].value;
        else
            return p[i];
    }
    template <class Time>
    EDDY_INLINE EDDY_HD constexpr void move_to(const Time& t) const requires requires {
        p.move_to(t);
    }
    { p.move_to(t); }
};

template <class T, int size>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vec<T, size> values_of(const Vec<Dual<T>, size>& x) {
    Vec<T, size> values;
    static_for<0, size>([&]<int i>() EDDY_INLINE { values.data[i] = x.data[i].value; });
    return values;
}
template <class T, int size>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vec<T, size> tangents_of(const Vec<Dual<T>, size>& x) {
    Vec<T, size> tangents;
    static_for<0, size>([&]<int i>() EDDY_INLINE { tangents.data[i] = x.data[i].tangent; });
    return tangents;
}
template <class T, int size>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vec<Dual<T>, size> duals_of(
    const Vec<T, size>& values, const Vec<T, size>& tangents) {
    Vec<Dual<T>, size> x;
    static_for<0, size>([&]<int i>() EDDY_INLINE {
        x.data[i] = {values.data[i], tangents.data[i]};
    });
    return x;
}

}  // namespace eddy::inline v0::detail
