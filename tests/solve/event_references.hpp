#pragma once
// What Serial says of the cases with events that several files compare with: compiled once for all of them. The
// comparisons of event_cases.hpp find these by their arguments, and have no text of Serial of their own.

#include "solve/event_cases.hpp"

namespace oracle {

eddy::Solution<double> solution_of(Several, const BouncingLanes<double>& lanes,
                                   const SolveOptions& options, const eddy::Serial& serial);
eddy::ValueAndGradient<double> gradient_of(Bouncing, eddy::Tsit5,
                                           const BouncingLanes<double>& lanes,
                                           const SolveOptions& options, const eddy::Serial& serial);
eddy::ValueAndGradient<float> gradient_of(Landing, eddy::Tsit5, const BouncingLanes<float>& lanes,
                                          const SolveOptions& options, const eddy::Serial& serial,
                                          const eddy::ConstantController& constant);
eddy::ValueAndGradient<double> shared_gradient_of(Several, const BouncingLanes<double>& lanes,
                                                  const SolveOptions& options,
                                                  const eddy::Serial& serial);
eddy::Solution<double> tangent_of(Several, const BouncingLanes<double>& lanes,
                                  const SolveOptions& options, const eddy::Serial& serial);
eddy::HessianVectorProduct<double> product_of(Several, const BouncingLanes<double>& lanes,
                                              const SolveOptions& options,
                                              const eddy::Serial& serial);

}  // namespace oracle
