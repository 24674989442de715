// expect: steady_state: the field depends on t, and does not come to rest; give its times as parameters
// A driven equation follows what drives it.
#include <eddy/eddy.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()([[maybe_unused]] auto t, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::vec(p[0] * t - y[0]);
#else
        return eddy::vec(p[0] - y[0]);
#endif
    }
};

double rest_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::steady_state(Driven{}, y0, p).y()(0, 0);
}
