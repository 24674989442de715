// expect: odeint_field: the system must be an empty functor or a captureless lambda
#include <eddy/interop/odeint.hpp>

#ifdef EDDY_BAD
struct Decay {
    double rate = 1;
    constexpr void operator()(const auto& y, auto& dydt, auto) const { dydt[0] = -rate * y[0]; }
};
[[maybe_unused]] const auto field = eddy::odeint_field<1, 0>(Decay{});
#else
struct Decay {
    constexpr void operator()(const auto& y, auto& dydt, const auto& p, auto) const {
        dydt[0] = -p[0] * y[0];
    }
};
[[maybe_unused]] const auto field = eddy::odeint_field<1, 1>(Decay{});
#endif
