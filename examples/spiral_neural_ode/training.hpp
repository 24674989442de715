#pragma once
// Fits the flow to pieces of the sampled curve: each lane starts at a sample and is compared with those
// that follow. A step takes a minibatch of starts.

#include <cmath>
#include <cstddef>
#include <vector>

#include "model.hpp"

using Array = eddy::EnsembleArray<float>;

/// Samples of one curve, one each `interval` of time.
struct Samples {
    Array y;  // (time, component)
    double interval = 0;

    /// The mean square distance from their mean, per component.
    [[nodiscard]] double variance() const {
        double variance = 0;
        for (std::ptrdiff_t i = 0; i < 2; ++i) {
            double sum = 0, squares = 0;
            for (std::ptrdiff_t k = 0; k < y.rows(); ++k) {
                sum += y(k, i);
                squares += double(y(k, i)) * y(k, i);
            }
            const auto count = static_cast<double>(y.rows());
            variance += (squares / count - sum / count * sum / count) / 2;
        }
        return variance;
    }
};

/// A part of a training: so many steps on so many pieces of so many samples each.
struct Part {
    std::ptrdiff_t lanes, points;
    std::int64_t steps;
    double learning_rate;
};
/// Short pieces tell the flow quickly; long ones hold its phase.
constexpr Part parts[] = {{64, 20, 4000, 1e-2}, {16, 200, 1000, 2e-3}};

/// Improves the weights; tells `show(loss, steps of the solver)`, the mean square error per component of each
/// step's batch.
template <class Show>
void train(const Samples& samples, const Part& ask, std::vector<float>& p, const Show& show) {
    const eddy::train::CosineSchedule schedule{.total = ask.steps, .warmup = 50};
    eddy::train::Minibatches batches(samples.y.rows() - ask.points, ask.lanes, 1);
    eddy::train::Optimizer<eddy::train::Adam, float> adam({.learning_rate = ask.learning_rate},
                                                          p.size());
    eddy::SolveOptions options{.rtol = 1e-4, .atol = 1e-5};
    for (std::ptrdiff_t k = 1; k <= ask.points; ++k)
        options.save_at.values.push_back(samples.interval * double(k));
    options.t1 = options.save_at.values.back();
    auto solver =
        eddy::gradient_solver(Flow{}, eddy::Tsit5{}, SquaredError{}, options, eddy::Tiles{});

    Array y0(ask.lanes, 2);
    std::vector<Array> data(static_cast<std::size_t>(ask.points), Array(ask.lanes, 2));
    for (std::int64_t step = 0; step < ask.steps; ++step) {
        const auto starts = batches(step);
        for (std::ptrdiff_t lane = 0; lane < ask.lanes; ++lane) {
            const std::ptrdiff_t from = starts[static_cast<std::size_t>(lane)];
            for (std::ptrdiff_t i = 0; i < 2; ++i) {
                y0(lane, i) = samples.y(from, i);
                for (std::ptrdiff_t k = 0; k < ask.points; ++k)
                    data[static_cast<std::size_t>(k)](lane, i) = samples.y(from + k + 1, i);
            }
        }
        auto& result = solver(data, y0, eddy::shared(p));
        const std::span<float> gradient(result.gradient.p.data(), p.size());
        const double count = 2. * double(result.loss.num_successful) * double(ask.points);
        for (float& g : gradient) g /= static_cast<float>(count);
        eddy::train::clip_by_norm(gradient, 1);
        adam.step(p, gradient, schedule(step));
        show(result.loss.total_of_successful / count, result.report.total_stats());
    }
}
