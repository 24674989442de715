#pragma once
// Maximum likelihood: each step takes fresh samples.

#include <vector>

#include "model.hpp"
#include "moons.hpp"

using Array = eddy::EnsembleArray<float>;

inline void put_samples(const Moons& moons, std::uint32_t stream, Array& y0) {
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
        const Point sample = moons(stream, static_cast<std::uint32_t>(lane));
        y0(lane, 0) = static_cast<float>(sample.x);
        y0(lane, 1) = static_cast<float>(sample.y);
    }
}

inline std::vector<float> train(const Moons& moons, std::int64_t steps, std::ptrdiff_t lanes) {
    std::vector<float> p = eddy::nn::glorot_uniform<float>(network, 1);
    eddy::train::Optimizer<eddy::train::Adam, float> adam({.learning_rate = 1e-2}, p.size());
    const eddy::train::CosineSchedule schedule{.total = steps, .warmup = 20};
    auto solver = eddy::gradient_solver(Flow{}, eddy::Tsit5{}, Loss{},
                                        {.t1 = 1, .rtol = 1e-3, .atol = 1e-4}, eddy::Tiles{});
    eddy::train::TrainingBar bar(steps);
    Array y0(lanes, Flow::state_size);  // integrals begin at 0
    for (std::int64_t step = 0; step < steps; ++step) {
        put_samples(moons, static_cast<std::uint32_t>(step + 1), y0);
        auto& result = solver(y0, eddy::shared(p));
        const std::span<float> gradient(result.gradient.p.data(), p.size());
        for (float& g : gradient) g /= static_cast<float>(result.loss.num_successful);
        eddy::train::clip_by_norm(gradient, 1);
        adam.step(p, gradient, schedule(step));
        bar(step + 1, result.loss.mean_of_successful, result.report.total_stats());
    }
    return p;
}
