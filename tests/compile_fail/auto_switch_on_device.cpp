// expect: AutoSwitch: this backend computes on a device, where steps are not looked at for stiffness; take Cpu or Serial
// Devices have no registers for looks at steps.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

struct SomeDevice : eddy::Serial {
    struct Memory {};
};
#ifdef EDDY_BAD
using Backend = SomeDevice;
#else
using Backend = eddy::Serial;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    using Method = eddy::AutoSwitch<eddy::Bosh3, eddy::Rosenbrock23>;
    return eddy::solve(Decay{}, Method{}, y0, p, {.t1 = 1}, Backend{}).y()(0, 0);
}
