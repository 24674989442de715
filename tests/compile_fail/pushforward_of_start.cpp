// expect: pushforward: y0 is start_from\(function\), and so is its tangent; give the same in both places
// A start that is computed has the tangent that its function makes of that of p.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Start {
    constexpr auto operator()(const auto& p) const { return eddy::vec(2 * p[0]); }
};

double end_of([[maybe_unused]] const eddy::EnsembleArray<double>& y0_tangent,
              const eddy::EnsembleArray<double>& p, const eddy::EnsembleArray<double>& p_tangent) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    const auto start = eddy::start_from(Start{});
#ifdef EDDY_BAD
    return eddy::pushforward(Decay{}, eddy::Euler{}, start, p, y0_tangent, p_tangent, options).t(0);
#else
    return eddy::pushforward(Decay{}, eddy::Euler{}, start, p, start, p_tangent, options).t(0);
#endif
}
