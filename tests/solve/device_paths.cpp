// Several paths to a lane on a device: means and variances have the bits of Serial.

#include "solve/emulated_device.hpp"
#include "solve/path_cases.hpp"

using support::EmulatedDevice;

TEST_CASE("device paths: means and variances are those of Serial, without paths that fail") {
    path_cases::check_means(EmulatedDevice{});
}

TEST_CASE("device paths: so are the mean of the loss and its gradient") {
    path_cases::check_gradients(EmulatedDevice{});
}

TEST_CASE("device paths: arrays that lie on the device are refused in a sentence") {
    const support::DeviceArray<double> there{support::Array(3, 2, 0.3)};
    CHECK_THROWS_WITH(path_cases::solve(there, support::Array(3, 2, 2.), EmulatedDevice{}),
                      support::contains("paths = 70 of arrays on the device"));
}
