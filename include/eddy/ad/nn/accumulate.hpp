#pragma once
// Integrals along a trajectory as further components of its state: the divergence of the flow, which is
// how a density changes along it (continuous normalizing flows: Chen et al. 2018, arXiv:1806.07366,
// theorem 1), and what keeps a learned flow simple (Finlay et al. 2020, arXiv:2002.02798). Derivatives of
// the field are programs made from its own, embedded in the larger one.
// Test: tests/ad/nn/accumulate.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/core/random/philox.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0::nn {

/// Where a field is evaluated, for what is accumulated there.
template <class Field, class Time, class State, class Parameters, class Slope, class Probe>
struct FlowPoint {
    Time t;
    State y;
    Parameters p;
    Slope dydt;
    Probe probe;  // ±1 in each component, constant along the trajectory

    /// The Jacobian of the field with respect to y times a vector.
    template <class Vector>
    [[nodiscard]] constexpr auto jacobian_times(const Vector& vector) const {
        return embed(jvp<1>(FieldProgram<Field>{}), t, y, p, vector);
    }
};

/// The divergence tr ∂f/∂y, exactly. It costs one product for each component: for small states.
struct Divergence {
    static constexpr bool takes_probe = false;

    template <class Field, class... Parts>
    [[nodiscard]] constexpr auto operator()(const FlowPoint<Field, Parts...>& at) const {
        return from<0>(at);
    }

  private:
    template <int i, class Field, class... Parts>
    [[nodiscard]] static constexpr auto from(const FlowPoint<Field, Parts...>& at) {
        Vec<double, Field::state_size> unit{};
        unit[i] = 1;
        const auto entry = at.jacobian_times(unit)[i];
        if constexpr (i + 1 < Field::state_size)
            return entry + from<i + 1>(at);
        else
            return entry;
    }
};

/// An estimate ε · (∂f/∂y ε) of the divergence, which is its mean over probes ε. It costs one
/// product for a state of any size.
/// Hutchinson 1990, doi:10.1080/03610919008812866; Grathwohl et al. 2019, arXiv:1810.01367.
struct EstimatedDivergence {
    static constexpr bool takes_probe = true;
    [[nodiscard]] constexpr auto operator()(const auto& at) const {
        return dot(at.probe, at.jacobian_times(at.probe));
    }
};

/// |∂f/∂y ε|², whose mean over probes ε is the square of the Jacobian's Frobenius norm.
struct JacobianNorm {
    static constexpr bool takes_probe = true;
    [[nodiscard]] constexpr auto operator()(const auto& at) const {
        const auto pushed = at.jacobian_times(at.probe);
        return dot(pushed, pushed);
    }
};

/// |f|², twice the kinetic energy. It is least for straight trajectories of constant speed.
struct KineticEnergy {
    static constexpr bool takes_probe = false;
    [[nodiscard]] constexpr auto operator()(const auto& at) const { return dot(at.dydt, at.dydt); }
};

/// A field with further components: first its own state, then the integrals from t0 of the quantities, in
/// their order, then the probe where one of them takes one. A quantity is an empty functor of a FlowPoint,
/// as those above. Integrals begin at 0; probes are drawn by `draw_probes`.
template <class Field, class... Quantity>
struct Accumulated {
    static_assert(sizeof...(Quantity) > 0, "nn::Accumulated: name a quantity to accumulate");
    static constexpr bool takes_probe = (Quantity::takes_probe || ...);
    static constexpr int field_size = Field::state_size;
    static constexpr int first_quantity = field_size;
    static constexpr int first_probe = field_size + static_cast<int>(sizeof...(Quantity));
    static constexpr int state_size = first_probe + (takes_probe ? field_size : 0);
    static constexpr int parameter_size = Field::parameter_size;

    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const {
        const auto own = slice<0, field_size>(y);
        const auto dydt = Field{}(t, own, p);
        if constexpr (takes_probe) {
            const auto probe = slice<first_probe, field_size>(y);
            const Vec<double, field_size> at_rest{};
            return concat(concat(dydt, rates(t, own, p, dydt, probe)), at_rest);
        } else {
            return concat(dydt, rates(t, own, p, dydt, 0));
        }
    }

    /// Draws the probes of initial states (trajectory, component): ±1, a function of only seed,
    /// trajectory and component.
    template <class Array>
    static void draw_probes(Array& y0, std::uint64_t seed) requires(takes_probe) {
        for (std::ptrdiff_t lane = 0; lane < static_cast<std::ptrdiff_t>(y0.rows()); ++lane) {
            for (int i = 0; i < field_size; ++i) {
                const PhiloxWords<std::uint32_t> words = philox(
                    PhiloxWords<std::uint32_t>{{static_cast<std::uint32_t>(lane),
                                                static_cast<std::uint32_t>(i / 128), 0, 0x7072}},
                    PhiloxKey(seed));
                const bool is_up = (words.w[i / 32 % 4] >> (i % 32) & 1) != 0;
                y0(lane, first_probe + i) = is_up ? 1 : -1;
            }
        }
    }

  private:
    template <class Time, class State, class Parameters, class Slope, class Probe>
    static constexpr auto rates(const Time& t, const State& y, const Parameters& p,
                                const Slope& dydt, const Probe& probe) {
        const FlowPoint<Field, Time, State, Parameters, Slope, Probe> at{t, y, p, dydt, probe};
        return vec(Quantity{}(at)...);
    }
};

/// A right-hand side with running integrals of quantities along the trajectory:
/// `accumulate<Divergence, KineticEnergy>(field)`. The state is that of the field, then the
/// integrals, then the probe if a quantity uses one.
template <class... Quantity, class Field>
[[nodiscard]] constexpr Accumulated<Field, Quantity...> accumulate(const Field&) {
    return {};
}

}  // namespace eddy::inline v0::nn
