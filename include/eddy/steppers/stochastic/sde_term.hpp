#pragma once
// dy = drift(t, y, p) dt + diffusion(t, y, p) dW: what of it stands where is found by the trace.
// Test: tests/steppers/stochastic.cpp

#include <eddy/ad/cotangent.hpp>
#include <eddy/steppers/brownian/brownian_path.hpp>
#include <eddy/steppers/counted_components.hpp>
#include <eddy/steppers/stochastic/sde_graph.hpp>

namespace eddy::inline v0 {

/// From the least demanding to the most: which methods are of their full order for a noise.
enum class NoiseClass : unsigned char { additive, diagonal, commutative, general };

/// The term of a field with `drift`, `diffusion` and `calculus`.
template <class FieldType>
struct SdeTerm {
    using Field = FieldType;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    static constexpr Calculus calculus = Field::calculus;
    template <class Time>
    using Path = BrownianPath<Time>;

    static constexpr int num_entries = [] {
        Graph graph;
        return static_cast<int>(detail::SdeTrace<Field>(graph).entries.size());
    }();
    static constexpr int num_noises = [] {
        Graph graph;
        return detail::SdeTrace<Field>(graph).num_noises;
    }();
    static_assert(num_noises > 0,
                  "stochastic field: the diffusion is zero; an equation without noise is a vector "
                  "field f(t, y, p)");

    struct Entries {
        DiffusionEntry at[num_entries > 0 ? num_entries : 1];
    };
    /// Where the entries of the diffusion are, noise by noise.
    static constexpr Entries entries = [] {
        Entries found{};
        Graph graph;
        const detail::SdeTrace<Field> trace(graph);
        int e = 0;
        for (const auto& entry : trace.entries) found.at[e++] = entry.at;
        return found;
    }();

    /// One column for each noise, of one entry, that reads no other component than its own: or one
    /// noise alone.
    static constexpr NoiseClass noise = [] {
        Graph graph;
        const detail::SdeTrace<Field> trace(graph);
        const auto rows = jacobian_rows(trace.diffusion_graph(), 1);
        bool additive = true, diagonal = num_entries == num_noises;
        for (int e = 0; e < num_entries; ++e) {
            for (int i = 0; i < state_size; ++i) {
                const bool reads = rows[static_cast<std::size_t>(e)].contains(i);
                additive = additive && !reads;
                diagonal = diagonal && !(reads && i != entries.at[e].row);
            }
            for (int other = 0; other < e; ++other)
                diagonal = diagonal && entries.at[other].row != entries.at[e].row;
        }
        if (additive) return NoiseClass::additive;
        if (diagonal || num_noises == 1) return NoiseClass::diagonal;
        if constexpr (requires { Field::commutative; }) {
            if (Field::commutative) return NoiseClass::commutative;
        }
        return NoiseClass::general;
    }();

    /// How many halves of Σ_k (g_k·∇) g_k turn the drift into that of the calculus of a method.
    static constexpr int correction_for(Calculus of_method) {
        if (of_method == calculus || noise == NoiseClass::additive) return 0;
        return of_method == Calculus::stratonovich ? -1 : 1;
    }

    /// Do slopes take the noise as a fourth argument? Of noise that commutes.
    static constexpr bool slopes_take_noise = noise == NoiseClass::commutative;
    template <Calculus of_method, detail::SdeParts parts>
    using Program = eddy::Program<detail::SdeRecipe<
        Field, parts, parts == detail::SdeParts::diffusion ? 0 : correction_for(of_method),
        slopes_take_noise && parts == detail::SdeParts::with_slopes>>;
};

namespace detail {

template <StochasticField Field>
struct ChosenTerm<Field> {
    using type = SdeTerm<Field>;
};

/// Components that neither drift nor noise changes.
template <class Field>
struct ConstantComponents<SdeTerm<Field>> {
    static constexpr auto are = [] {
        Graph graph;
        const SdeTrace<Field> trace(graph);
        const ZeroComponents zeros(graph);
        ComponentFlags<Field::state_size> found{};
        for (int i = 0; i < Field::state_size; ++i) found.of[i] = zeros.is_zero(trace.drift, i);
        for (const auto& entry : trace.entries) found.of[entry.at.row] = false;
        return found;
    }();
};

}  // namespace detail
}  // namespace eddy::inline v0
