// Solves and gradients of a stiff equation, that of the preprocessor: a program for each, so that they are compiled beside each other.

#include "eddy_arm.hpp"
#include "stiff_field.hpp"

namespace {

using namespace peers;
using eddy::Cpu, eddy::PredictiveController;
using Field = support::PEERS_STIFF_FIELD;

template <class Method>
using Solve = EddySolve<Field, Method, PredictiveController, Cpu>;

std::unique_ptr<Arm> make(const Options& options) {
    return choose(options.text("task") + " " + options.text("method"), options,
                  {{"adaptive Rodas5P", make_arm<Solve<eddy::Rodas5P>>},
                   {"adaptive Rodas4", make_arm<Solve<eddy::Rodas4>>},
                   {"gradient Rodas5P",
                    make_arm<EddyGradient<Field, eddy::Rodas5P, PredictiveController, Cpu>>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
