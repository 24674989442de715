// Solves of Lorenz, with constant steps and adaptive ones, many lanes or one.

#include "eddy_arm.hpp"

namespace {

using namespace peers;
using eddy::ConstantController, eddy::Cpu, eddy::PIDController, eddy::Serial;

std::unique_ptr<Arm> make(const Options& options) {
    return choose(
        kind(options), options,
        {{"Tsit5 constant", make_arm<EddySolve<Lorenz, eddy::Tsit5, ConstantController, Cpu>>},
         {"Dopri5 constant", make_arm<EddySolve<Lorenz, eddy::Dopri5, ConstantController, Cpu>>},
         {"Tsit5", make_arm<EddySolve<Lorenz, eddy::Tsit5, PIDController, Cpu>>},
         {"Vern7", make_arm<EddySolve<Lorenz, eddy::Vern7, PIDController, Cpu>>},
         {"Dopri8", make_arm<EddySolve<Lorenz, eddy::Dopri8, PIDController, Cpu>>},
         {"Taylor9", make_arm<EddySolve<Lorenz, eddy::Taylor<9>, PIDController, Cpu>>},
#ifndef PEERS_TEXT_ALONE  // where no code is wanted, one order of Taylor's method stands for all
         {"Taylor14", make_arm<EddySolve<Lorenz, eddy::Taylor<14>, PIDController, Cpu>>},
         {"Taylor18", make_arm<EddySolve<Lorenz, eddy::Taylor<18>, PIDController, Cpu>>},
#endif
         {"Tsit5 serial", make_arm<EddySolve<Lorenz, eddy::Tsit5, PIDController, Serial>>},
         {"Vern7 serial", make_arm<EddySolve<Lorenz, eddy::Vern7, PIDController, Serial>>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
