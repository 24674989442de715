// expect: odeint_field: the system must be callable as system\(y, dydt, p, t\), or as system\(y, dydt, t\)
#include <eddy/interop/odeint.hpp>

struct Decay {
#ifdef EDDY_BAD
    constexpr void operator()(const auto& y, auto& dydt, auto) const { dydt[0] = -1. * y[0]; }
#else
    constexpr void operator()(const auto& y, auto& dydt, const auto& p, auto) const {
        dydt[0] = -p[0] * y[0];
    }
#endif
};
[[maybe_unused]] const auto field = eddy::odeint_field<1, 1>(Decay{});
