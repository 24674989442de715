#pragma once
// Between eddy and programs written for Boost.Odeint, whose systems are functions of (y, dydt, t) that
// write dydt: a system becomes a field, and has gradients; a field becomes a system. No header of
// Boost is needed.
// Test: tests/interop/odeint.cpp

#include <eddy/core/error.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/field.hpp>
#include <limits>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The field that a system writes: system(y, dydt, t), or system(y, dydt, p, t) where there are
/// parameters. A component that is never written is NaN.
template <class System, int state, int parameters>
struct OdeintField {
    static constexpr int state_size = state, parameter_size = parameters;

    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const {
        auto dydt = -y;
        for (int i = 0; i < state; ++i) dydt[i] = std::numeric_limits<double>::quiet_NaN();
        if constexpr (parameters == 0)
            System{}(y, dydt, t);
        else
            System{}(y, dydt, p, t);
        return dydt;
    }
};

namespace detail {

/// Can a system be called with what is traced?
template <class System, int state, int parameters>
inline constexpr bool is_odeint_system = [] {
    using State = ArgumentOf<Vector<state>>;
    using Derivative = std::remove_cvref_t<decltype(-std::declval<State>())>;
    using Time = ArgumentOf<Scalar>;
    if constexpr (parameters == 0)
        return std::is_invocable_v<System, const State&, Derivative&, const Time&>;
    else
        return std::is_invocable_v<System, const State&, Derivative&,
                                   const ArgumentOf<Vector<parameters>>&, const Time&>;
}();

}  // namespace detail

/// A right-hand side from a system of Boost.Odeint. The system is an empty functor or a captureless
/// lambda whose arguments are of any type: `odeint_field<2, 4>([](const auto& y, auto& dydt, const
/// auto& p, auto t) { … })`. Without parameters (parameter_size 0) it takes no p.
template <int state_size, int parameter_size, class System>
[[nodiscard]] constexpr auto odeint_field(const System&) {
    static_assert(detail::is_stateless<System>,
                  "odeint_field: the system must be an empty functor or a captureless lambda; take "
                  "what it holds as parameters, system(y, dydt, p, t)");
    if constexpr (detail::is_stateless<System>) {
        constexpr bool is_system = detail::is_odeint_system<System, state_size, parameter_size>;
        static_assert(is_system,
                      "odeint_field: the system must be callable as system(y, dydt, p, t), or as "
                      "system(y, dydt, t) where parameter_size is 0, with arguments of any type: "
                      "take them as const auto& and auto&");
        if constexpr (is_system) return OdeintField<System, state_size, parameter_size>{};
    }
}

/// A field with its parameters, as a system that steppers of Boost.Odeint take: (y, dydt, t), for any
/// state with size() and [] whose numbers are Real, such as std::vector or std::array. InvalidArgument where
/// a state has another size than the field.
template <class Field, class Real = double>
class OdeintSystem {
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;

  public:
    template <class Parameters>
    explicit OdeintSystem(const Parameters& p) {
        require_argument(p.size() == static_cast<decltype(p.size())>(parameter_size),
                         "odeint_system: {} parameters for a field of {}; give as many as "
                         "parameter_size says",
                         p.size(), parameter_size);
        for (int i = 0; i < parameter_size; ++i) p_[i] = p[static_cast<decltype(p.size())>(i)];
    }

    template <class State>
    void operator()(const State& y, State& dydt, double t) const {
        using Size = decltype(y.size());
        require_argument(
            y.size() == static_cast<Size>(state_size) && dydt.size() == y.size(),
            "odeint_system: y has {} components and dydt {}, the field {}; give both as many as "
            "state_size says",
            y.size(), dydt.size(), state_size);
        Vec<Real, state_size> state;
        for (int i = 0; i < state_size; ++i) state[i] = y[static_cast<Size>(i)];
        const auto f = FieldProgram<Field>{}(static_cast<Real>(t), state, p_);
        for (int i = 0; i < state_size; ++i) dydt[static_cast<Size>(i)] = f[i];
    }

  private:
    Vec<Real, parameter_size == 0 ? 1 : parameter_size> p_{};
};

/// A right-hand side of eddy with these parameters, as a system of Boost.Odeint.
template <class Field, class Parameters>
[[nodiscard]] auto odeint_system(const Field&, const Parameters& p) {
    if constexpr (detail::check_field<Field>())
        return OdeintSystem<Field, std::remove_cvref_t<decltype(p[0])>>(p);
}

}  // namespace eddy::inline v0
