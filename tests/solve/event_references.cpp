#include "solve/event_references.hpp"

namespace oracle {

eddy::Solution<double> solution_of(Several field, const BouncingLanes<double>& lanes,
                                   const SolveOptions& options, const eddy::Serial& serial) {
    return solution_of<>(field, lanes, options, serial);
}
eddy::ValueAndGradient<double> gradient_of(Bouncing field, eddy::Tsit5 method,
                                           const BouncingLanes<double>& lanes,
                                           const SolveOptions& options,
                                           const eddy::Serial& serial) {
    return gradient_of<>(field, method, lanes, options, serial);
}
eddy::ValueAndGradient<float> gradient_of(Landing field, eddy::Tsit5 method,
                                          const BouncingLanes<float>& lanes,
                                          const SolveOptions& options, const eddy::Serial& serial,
                                          const eddy::ConstantController& constant) {
    return gradient_of<>(field, method, lanes, options, serial, constant);
}
eddy::ValueAndGradient<double> shared_gradient_of(Several field, const BouncingLanes<double>& lanes,
                                                  const SolveOptions& options,
                                                  const eddy::Serial& serial) {
    return shared_gradient_of<>(field, lanes, options, serial);
}
eddy::Solution<double> tangent_of(Several field, const BouncingLanes<double>& lanes,
                                  const SolveOptions& options, const eddy::Serial& serial) {
    return tangent_of<>(field, lanes, options, serial);
}
eddy::HessianVectorProduct<double> product_of(Several field, const BouncingLanes<double>& lanes,
                                              const SolveOptions& options,
                                              const eddy::Serial& serial) {
    return product_of<>(field, lanes, options, serial);
}

}  // namespace oracle
