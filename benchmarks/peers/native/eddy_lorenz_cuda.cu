// eddy on a GPU: solves of Lorenz and their gradients, from arrays of the host to arrays of the host.

#include <eddy/backends/cuda.hpp>

#include "eddy_arm.hpp"

namespace {

using namespace peers;
using eddy::ConstantController, eddy::Cuda, eddy::PIDController;

std::unique_ptr<Arm> make(const Options& options) {
    const std::string task = options.text("task");
    const bool has_loss = task == "gradient" || task == "memory";
    return choose(
        (has_loss ? "gradient by " : "") + kind(options), options,
        {{"Tsit5 constant", make_arm<EddySolve<Lorenz, eddy::Tsit5, ConstantController, Cuda>>},
         {"Tsit5", make_arm<EddySolve<Lorenz, eddy::Tsit5, PIDController, Cuda>>},
         {"gradient by Tsit5 constant",
          make_arm<EddyGradient<Lorenz, eddy::Tsit5, ConstantController, Cuda>>},
         {"gradient by Tsit5", make_arm<EddyGradient<Lorenz, eddy::Tsit5, PIDController, Cuda>>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
