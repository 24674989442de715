// A scan of 64 layers with all residuals kept, over the same written by hand: the layers' inputs and
// outputs in vectors, one loop forward and one back. Best of many runs, in turn. Then the evaluations
// of a scan with 8 checkpoints whose segments keep their residuals: 64 forward and 56 again.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <eddy/checkpoint/program_scan.hpp>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using eddy::Vec;

constexpr int width = 16, num_layers = 64, repeats = 2000;
using State = Vec<double, width>;
using Weights = Vec<double, width * width>;

struct Layer {
    constexpr auto operator()(const auto& x, const auto& w, const auto& bias) const {
        return tanh(dense(w, bias, x));
    }
};
constexpr auto layer =
    eddy::trace<eddy::Vector<width>, eddy::Vector<width * width>, eddy::Vector<width>>(Layer{});
constexpr auto step = eddy::differentiable(layer);

void keep(const void* x) { asm volatile("" : : "r"(x) : "memory"); }

struct Network {
    State x;
    std::vector<Weights> weights;
    std::vector<State> biases;
};

Network network() {
    Network net;
    for (int k = 0; k < width; ++k) net.x[k] = 0.1 * k;
    for (int n = 0; n < num_layers; ++n) {
        Weights w;
        for (int k = 0; k < width * width; ++k) w[k] = 0.01 * ((k * 7 + n * 3) % 23 - 11);
        State bias;
        for (int k = 0; k < width; ++k) bias[k] = 0.05 * ((k + n) % 5);
        net.weights.push_back(w);
        net.biases.push_back(bias);
    }
    return net;
}

/// The gradient by hand: what each step's pullback reads is kept, and nothing else.
auto by_hand(const Network& net, const State& last_cotangent) {
    using Recorded = decltype(step.record(net.x, net.weights[0], net.biases[0]));
    std::vector<typename Recorded::second_type> residuals;
    std::vector<State> states;
    residuals.reserve(num_layers);
    states.reserve(num_layers);
    State x = net.x;
    for (std::size_t n = 0; n < num_layers; ++n) {
        states.push_back(x);
        auto [next, kept] = step.record(x, net.weights[n], net.biases[n]);
        residuals.push_back(kept);
        x = next;
    }
    State cotangent = last_cotangent;
    std::vector<Weights> weights(num_layers);
    std::vector<State> biases(num_layers);
    for (std::size_t n = num_layers; n-- > 0;) {
        const auto pulled = decltype(step)::pull_recorded(residuals[n], cotangent, states[n],
                                                          net.weights[n], net.biases[n]);
        cotangent = std::get<0>(pulled);
        weights[n] = std::get<1>(pulled);
        biases[n] = std::get<2>(pulled);
    }
    return std::tuple(x, cotangent, std::move(weights), std::move(biases));
}

template <class Action>
double seconds(const Action& action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
    const Network net = network();
    const std::span<const Weights> weights(net.weights);
    const std::span<const State> biases(net.biases);
    State cotangent;
    for (int k = 0; k < width; ++k) cotangent[k] = 1;
    const auto scan = eddy::scan(layer);

    double hand = 1e300, scanned = 1e300;
    bool same = true;
    for (int i = 0; i < repeats; ++i) {
        hand = std::min(hand, seconds([&] {
                            const auto found = by_hand(net, cotangent);
                            keep(&found);
                        }));
        scanned = std::min(scanned, seconds([&] {
                               auto linearization = scan.linearize(net.x, weights, biases);
                               const auto found = linearization.pullback(cotangent);
                               keep(&found);
                           }));
    }
    auto linearization = scan.linearize(net.x, weights, biases);
    const auto [by_x, by_weights, by_biases] = linearization.pullback(cotangent);
    const auto [value, hand_x, hand_weights, hand_biases] = by_hand(net, cotangent);
    same = linearization.value == value && by_x == hand_x && by_weights == hand_weights &&
           by_biases == hand_biases;

    auto few = eddy::scan(layer, {.checkpoints = 8, .keep = eddy::Keep::residuals})
                   .linearize(net.x, weights, biases);
    static_cast<void>(few.pullback(cotangent));
    std::printf("64 layers of width 16, all residuals kept: by hand %.2f us, scan %.2f us, %.3f\n",
                hand * 1e6, scanned * 1e6, scanned / hand);
    std::printf("8 checkpoints, residuals of a segment: %ld evaluations, %ld of them again\n",
                static_cast<long>(few.counters().advances),
                static_cast<long>(few.counters().recomputed));
    return same && few.counters().advances == 64 + 56 ? 0 : 1;
}
