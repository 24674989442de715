// Solves of Van der Pol's oscillator, lanes of very different lengths.

#include "eddy_arm.hpp"

namespace {

using namespace peers;
using eddy::Cpu, eddy::PIDController;

std::unique_ptr<Arm> make(const Options& options) {
    return choose(kind(options), options,
                  {{"Tsit5", make_arm<EddySolve<VanDerPol, eddy::Tsit5, PIDController, Cpu>>},
                   {"Vern7", make_arm<EddySolve<VanDerPol, eddy::Vern7, PIDController, Cpu>>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
