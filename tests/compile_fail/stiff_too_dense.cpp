// expect: solve: this vector field has too many states, coupled too densely, for a stiff method
// A Jacobian without a zero.
#include <eddy/eddy.hpp>

#ifdef EDDY_BAD
constexpr int num_states = 40;
#else
constexpr int num_states = 4;
#endif
struct AllCoupled {
    static constexpr int state_size = num_states, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return -(p[0] + eddy::sum(y)) * y;
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(AllCoupled{}, eddy::Rodas5P{}, y0, p, {.t1 = 1}).y()(0, 0);
}
