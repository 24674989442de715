// Solves of Lorenz, with constant steps and adaptive ones, many lanes or one.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

template <class Method>
std::unique_ptr<Arm> make_method(const Options& options) {
    if (options.integer("steps") > 0)
        return std::make_unique<EddySolve<Lorenz, Method, eddy::ConstantController, eddy::Cpu>>(
            options);
    if (options.text("backend") == "Serial")
        return std::make_unique<EddySolve<Lorenz, Method, eddy::PIDController, eddy::Serial>>(
            options);
    return std::make_unique<EddySolve<Lorenz, Method, eddy::PIDController, eddy::Cpu>>(options);
}

std::unique_ptr<Arm> make(const Options& options) {
    const std::string method = options.text("method");
    if (method == "Tsit5") return make_method<eddy::Tsit5>(options);
    if (method == "Vern7") return make_method<eddy::Vern7>(options);
    if (method == "Dopri5")
        return std::make_unique<
            EddySolve<Lorenz, eddy::Dopri5, eddy::ConstantController, eddy::Cpu>>(options);
    if (method == "Dopri8")
        return std::make_unique<EddySolve<Lorenz, eddy::Dopri8, eddy::PIDController, eddy::Cpu>>(
            options);
    throw std::runtime_error("no method " + method);
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
