// expect: sensitivities: p must be an array of float or double, or eddy::shared\(p\); give the parameters of each trajectory in a row
// Directions are repeated rows of parameters.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p,
              [[maybe_unused]] const std::vector<int>& index) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
#ifdef EDDY_BAD
    return eddy::sensitivities(Decay{}, eddy::Euler{}, y0, eddy::selected(p, index), options).t(0);
#else
    return eddy::sensitivities(Decay{}, eddy::Euler{}, y0, p, options).t(0);
#endif
}
