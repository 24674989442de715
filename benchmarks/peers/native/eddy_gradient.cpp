// Gradients of Lorenz: adaptive, of many lanes or one, and with constant steps within a limit of memory.

#include "eddy_arm.hpp"

namespace {

using namespace peers;
using eddy::ConstantController, eddy::Cpu, eddy::PIDController, eddy::Serial;

std::unique_ptr<Arm> make(const Options& options) {
    return choose(
        kind(options), options,
        {{"Tsit5 constant", make_arm<EddyGradient<Lorenz, eddy::Tsit5, ConstantController, Cpu>>},
         {"Tsit5", make_arm<EddyGradient<Lorenz, eddy::Tsit5, PIDController, Cpu>>},
         {"Vern7", make_arm<EddyGradient<Lorenz, eddy::Vern7, PIDController, Cpu>>},
         {"Dopri8", make_arm<EddyGradient<Lorenz, eddy::Dopri8, PIDController, Cpu>>},
         {"Tsit5 serial", make_arm<EddyGradient<Lorenz, eddy::Tsit5, PIDController, Serial>>},
         {"Vern7 serial", make_arm<EddyGradient<Lorenz, eddy::Vern7, PIDController, Serial>>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
