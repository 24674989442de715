#pragma once
// What may be wrong with a stochastic field, one sentence each, before anything else looks at it.
// Test: tests/compile_fail/noise_diffusion_wrong_size.cpp

#include <eddy/steppers/stochastic/sde_graph.hpp>

namespace eddy::inline v0::detail {

template <class Field, class Call>
inline constexpr bool takes_traced =
    std::is_invocable_v<Call, ArgumentOf<Scalar>, ArgumentOf<Vector<Field::state_size>>,
                        ArgumentOf<Vector<Field::parameter_size>>>;
template <class Field>
struct CallDrift {
    template <class... T>
    constexpr auto operator()(const T&... x) const -> decltype(Field{}.drift(x...)) {
        return Field{}.drift(x...);
    }
};
template <class Field>
struct CallDiffusion {
    template <class... T>
    constexpr auto operator()(const T&... x) const -> decltype(Field{}.diffusion(x...)) {
        return Field{}.diffusion(x...);
    }
};
template <class Field, class Call>
using TracedResult = std::remove_cvref_t<
    std::invoke_result_t<Call, ArgumentOf<Scalar>, ArgumentOf<Vector<Field::state_size>>,
                         ArgumentOf<Vector<Field::parameter_size>>>>;

template <class Result, int size>
inline constexpr bool has_shape = shape_of<Result> == size;
template <class... Column, int size>
inline constexpr bool has_shape<Columns<Column...>, size> = sizeof...(Column) > 0 &&
                                                            ((shape_of<Column> == size) && ...);

/// True where nothing is wrong.
template <class Field>
consteval bool check_stochastic_field() {
    static_assert(
        is_stateless<Field>,
        "stochastic field: the field must be an empty functor; pass values as parameters");
    static_assert(HasStateSize<Field> && HasParameterSize<Field>,
                  "stochastic field: members `static constexpr int state_size` and "
                  "`parameter_size` are needed (0 where there are no parameters)");
    if constexpr (is_stateless<Field> && HasStateSize<Field> && HasParameterSize<Field>) {
        constexpr bool callable =
            takes_traced<Field, CallDrift<Field>> && takes_traced<Field, CallDiffusion<Field>>;
        static_assert(callable,
                      "stochastic field: drift and diffusion must be callable as drift(t, y, p) "
                      "and diffusion(t, y, p) with arguments of any type: take them as auto and "
                      "const auto&");
        if constexpr (callable) {
            constexpr int size = Field::state_size;
            constexpr bool drifts = has_shape<TracedResult<Field, CallDrift<Field>>, size>;
            constexpr bool diffuses = has_shape<TracedResult<Field, CallDiffusion<Field>>, size>;
            static_assert(drifts,
                          "stochastic field: drift(t, y, p) must return state_size components");
            static_assert(diffuses,
                          "stochastic field: diffusion(t, y, p) must return state_size components, "
                          "each with a noise of its own, or all with one where noise_size = 1; or "
                          "eddy::columns(g1, g2, ...) of such vectors, one for each noise");
            return drifts && diffuses;
        }
    }
    return false;
}

}  // namespace eddy::inline v0::detail
