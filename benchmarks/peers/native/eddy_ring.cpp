// Solves of the random cases: a ring whose size is that of the preprocessor, one program for all sizes of a run.

#include "eddy_arm.hpp"

namespace {

using namespace peers;

/// dy_i/dt = (y_{i+1} − y_{i−2}) y_{i−1} − d_i y_i + F; p = (d_0 … d_{n−1}, F). Lorenz 1996, with a damping for each unknown.
template <int size>
struct Ring {
    static constexpr int state_size = size, parameter_size = size + 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return [&]<int... i>(std::integer_sequence<int, i...>) {
            return eddy::vec(
                ((y[(i + 1) % size] - y[(i + size - 2) % size]) * y[(i + size - 1) % size] -
                 p[i] * y[i] + p[size])...);
        }
        (std::make_integer_sequence<int, size>{});
    }
};

template <class Method, int size>
using RingArm = EddySolve<Ring<size>, Method, eddy::PIDController, eddy::Cpu>;

template <int... sizes>
std::unique_ptr<Arm> make_any(const Options& options) {
    return choose(
        options.text("method") + " of " + options.text("size"), options,
        {{"Tsit5 of " + std::to_string(sizes), make_arm<RingArm<eddy::Tsit5, sizes>>}...,
         {"Vern7 of " + std::to_string(sizes), make_arm<RingArm<eddy::Vern7, sizes>>}...});
}

std::unique_ptr<Arm> make(const Options& options) { return make_any<PEERS_RANDOM_SIZES>(options); }

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
