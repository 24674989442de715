// Algebraic equations on a device, as Serial has them.
#include <eddy/backends/cuda.hpp>

#include "solve/device_dae.hpp"

TEST_CASE("device algebraic equations: gradients by start, rates and times") {
    device_dae::check_gradients<eddy::Cuda>(1009);
}

TEST_CASE("device algebraic equations: lanes without a start say so, the others go on") {
    device_dae::check_starts<eddy::Cuda>(333);
}
