#pragma once
// The front door: the public headers, floor by floor. What they include themselves need not be
// repeated.
// Test: tests/install/consumer/main.cpp

#include <eddy/optimisation_note.hpp>
#include <eddy/version.hpp>

#include <eddy/core/error.hpp>
#include <eddy/core/mask.hpp>
#include <eddy/core/pack.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/core/random/counter_rng.hpp>
#include <eddy/core/random/normal.hpp>
#include <eddy/core/result.hpp>
#include <eddy/core/static_for.hpp>

#include <eddy/trace/embed.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/graphviz.hpp>
#include <eddy/trace/interpret.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <eddy/trace/pass_report.hpp>
#include <eddy/trace/print.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <eddy/trace/trace.hpp>

#include <eddy/ad/custom.hpp>
#include <eddy/ad/differentiable.hpp>
#include <eddy/ad/dual.hpp>
#include <eddy/ad/gradient.hpp>
#include <eddy/ad/hooks.hpp>
#include <eddy/ad/jacobian.hpp>
#include <eddy/ad/jvp.hpp>
#include <eddy/ad/linear_model.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/nn/accumulate.hpp>
#include <eddy/ad/policy_within.hpp>
#include <eddy/ad/residuals.hpp>
#include <eddy/ad/root.hpp>
#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/ad/vjp.hpp>

#include <eddy/linalg/dual_lu.hpp>

#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/nested_scan.hpp>
#include <eddy/checkpoint/placement_view.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>

#include <eddy/steppers/brownian/brownian_path.hpp>
#include <eddy/steppers/controller/constant.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/controller/initial_step.hpp>
#include <eddy/steppers/controller/joint.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <eddy/steppers/controller/predictive.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <eddy/steppers/interpolant.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include <eddy/solvers/all.hpp>

#include <eddy/solve/call/differentiable_solve.hpp>
#include <eddy/solve/call/gauss_newton.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solve/call/sampled_path.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solve/call/steady_state.hpp>

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>

#include <eddy/interop/dlpack.hpp>
#include <eddy/interop/interrupt.hpp>
#include <eddy/interop/odeint.hpp>
#include <eddy/interop/progress.hpp>
#include <eddy/interop/step_sizes.hpp>
#include <eddy/interop/train/checkpoint_file.hpp>
#include <eddy/interop/train/early_stopping.hpp>
#include <eddy/interop/train/lbfgs.hpp>
#include <eddy/interop/train/minibatches.hpp>
#include <eddy/interop/train/rank_checkpoint.hpp>
#include <eddy/interop/train/training_bar.hpp>
#include <eddy/interop/train/weights_file.hpp>
