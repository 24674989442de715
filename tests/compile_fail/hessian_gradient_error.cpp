// expect: hessian_vector_product: estimate_gradient_error has no place here; ask value_and_gradient for it
// Both would want the tangents.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};
#ifdef EDDY_BAD
const auto& extra = eddy::estimate_gradient_error;
#else
const eddy::Serial extra;
#endif

auto product(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::hessian_vector_product(Decay{}, eddy::Bosh3{}, Square{}, y0, p, y0, p, {.t1 = 1},
                                        extra);
}
