// Algebraic equations on an emulated device: the claims of tests/device/cuda_dae.cu.

#include "solve/device_dae.hpp"

#include "solve/emulated_device.hpp"

TEST_CASE("device algebraic equations, emulated: gradients by start, rates and times") {
    device_dae::check_gradients<support::EmulatedDevice>(41);
}

TEST_CASE("device algebraic equations, emulated: lanes without a start say so") {
    device_dae::check_starts<support::EmulatedDevice>(41);
}
