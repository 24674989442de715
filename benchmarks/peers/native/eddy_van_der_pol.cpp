// Solves of Van der Pol's oscillator, lanes of very different lengths.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

std::unique_ptr<Arm> make(const Options& options) {
    const std::string method = options.text("method");
    if (method == "Tsit5")
        return std::make_unique<EddySolve<VanDerPol, eddy::Tsit5, eddy::PIDController, eddy::Cpu>>(
            options);
    if (method == "Vern7")
        return std::make_unique<EddySolve<VanDerPol, eddy::Vern7, eddy::PIDController, eddy::Cpu>>(
            options);
    throw std::runtime_error("no method " + method);
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
