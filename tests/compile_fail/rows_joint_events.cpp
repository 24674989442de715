// expect: Rows: events with JointController, which gives all trajectories the same steps; leave one of them out
// Trajectories that share their steps have no events.
#include <eddy/runtime.hpp>

struct Ground {
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
const auto& extra = eddy::JointController{};
#else
const eddy::PIDController extra;
#endif

double end_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::solve(eddy::with_events(field, Ground{}), eddy::Tsit5{}, y0, y0, {.t1 = 1}, extra)
        .y()(0, 0);
}
