// Gradients of Lorenz: adaptive, of many lanes or one, and with constant steps within a limit of memory.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

template <class Method>
std::unique_ptr<Arm> make_adaptive(const Options& options) {
    if (options.text("backend") == "Serial")
        return std::make_unique<EddyGradient<Lorenz, Method, eddy::PIDController, eddy::Serial>>(
            options);
    return std::make_unique<EddyGradient<Lorenz, Method, eddy::PIDController, eddy::Cpu>>(options);
}

std::unique_ptr<Arm> make(const Options& options) {
    const std::string method = options.text("method");
    if (options.integer("steps") > 0)
        return std::make_unique<
            EddyGradient<Lorenz, eddy::Tsit5, eddy::ConstantController, eddy::Cpu>>(options);
    if (method == "Tsit5") return make_adaptive<eddy::Tsit5>(options);
    if (method == "Vern7") return make_adaptive<eddy::Vern7>(options);
    if (method == "Dopri8")
        return std::make_unique<EddyGradient<Lorenz, eddy::Dopri8, eddy::PIDController, eddy::Cpu>>(
            options);
    throw std::runtime_error("no method " + method);
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
