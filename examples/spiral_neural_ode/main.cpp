// Learns a spiral from noisy samples: a neural ODE, trained in tiles. Prints the loss against the variance
// of the data, writes a picture of both curves, and returns 0 where the fit is good.
//
//   example_spiral_neural_ode [picture.svg]
//
// The picture of docs/guide/neural.md: `build/release/examples/spiral_neural_ode/example_spiral_neural_ode docs/images/spiral.svg`

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "picture_file.hpp"
#include "training.hpp"

namespace {

/// 1,000 samples of the spiral from (2, 0) over 25 units of time, with noise of 1 % of its size.
Samples draw_samples(double noise) {
    constexpr std::ptrdiff_t count = 1000;
    eddy::SolveOptions options{.t1 = 25, .rtol = 1e-6, .atol = 1e-8};
    for (std::ptrdiff_t k = 0; k < count; ++k)
        options.save_at.values.push_back(25. * double(k) / (count - 1));
    Array start(1, 2), no_parameters(1, 0);
    start(0, 0) = 2;
    const auto curve = eddy::solve(Spiral{}, eddy::Tsit5{}, start, no_parameters, options);
    Samples samples{Array(count, 2), 25. / (count - 1)};
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        const auto z = eddy::normals(
            eddy::philox(eddy::PhiloxWords<std::uint32_t>{{static_cast<std::uint32_t>(k), 0, 0, 0}},
                         eddy::PhiloxKey(7)));
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            samples.y(k, i) = curve.y(k)(0, i) + static_cast<float>(noise) * z.z[i];
    }
    return samples;
}

/// The learned curve from where the spiral starts, at the times of the samples.
Array learned_curve(const Samples& samples, const std::vector<float>& p) {
    eddy::SolveOptions options{.rtol = 1e-5, .atol = 1e-6};
    for (std::ptrdiff_t k = 0; k < samples.y.rows(); ++k)
        options.save_at.values.push_back(samples.interval * double(k));
    options.t1 = options.save_at.values.back();
    Array start(1, 2);
    start(0, 0) = 2;
    const auto solution =
        eddy::solve(Flow{}, eddy::Tsit5{}, start, eddy::shared(p), options, eddy::Tiles{});
    Array curve(samples.y.rows(), 2);
    for (std::ptrdiff_t k = 0; k < curve.rows(); ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i) curve(k, i) = solution.y(k)(0, i);
    return curve;
}

void write_picture(std::ofstream& svg, const Samples& samples, const Array& curve) {
    // Text in hundredths of the axes' units: renderers round fonts that are smaller than one.
    svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-2.5 -2.3 4.8 4.8' width='640' "
           "height='640'><rect x='-3' y='-3' width='6' height='6' fill='white'/>\n"
           "<g transform='scale(0.01)' font-family='sans-serif' font-size='11'>"
           "<rect x='-220' y='-220' width='440' height='440' fill='none' stroke='#999'/>\n"
           "<circle r='2' fill='#577' cx='-205' cy='-204'/><text x='-198' y='-200'>samples</text>"
           "<path d='M-140,-204 h30' stroke='#c33' stroke-width='2'/>"
           "<text x='-104' y='-200'>learned</text>\n<g text-anchor='middle'>";
    for (int v = -2; v <= 2; ++v)
        svg << "<text x='" << 100 * v << "' y='235'>" << v << "</text><text x='-230' y='"
            << 4 - 100 * v << "'>" << v << "</text>\n";
    svg << "<text x='150' y='235'>y₀</text><text x='-230' y='-146'>y₁</text></g></g>\n";
    for (std::ptrdiff_t k = 0; k < samples.y.rows(); ++k)
        svg << "<circle r='0.016' fill='#577' cx='" << samples.y(k, 0) << "' cy='"
            << -samples.y(k, 1) << "'/>\n";
    svg << "<polyline fill='none' stroke='#c33' stroke-width='0.015' points='";
    for (std::ptrdiff_t k = 0; k < curve.rows(); ++k)
        svg << curve(k, 0) << ',' << -curve(k, 1) << ' ';
    svg << "'/></svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
    std::ofstream picture = picture_file(argc, argv);
    const Samples samples = draw_samples(0.01);
    std::vector<float> p = eddy::nn::glorot_uniform<float>(network, 1);
    double mean_loss = 0;  // of the last hundred batches of short pieces
    for (const Part& part : parts) {
        eddy::train::TrainingBar bar(part.steps);
        std::int64_t step = 0;
        double last = 0;
        train(samples, part, p, [&](double loss, const eddy::LaneStats& steps) {
            bar(++step, loss, steps);
            if (step > part.steps - 100) last += loss / 100;
        });
        if (&part == parts) mean_loss = last;
    }

    const Array curve = learned_curve(samples, p);
    if (picture.is_open()) write_picture(picture, samples, curve);
    double apart = 0;
    for (std::ptrdiff_t k = 0; k < curve.rows(); ++k)
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            apart += std::pow(double(curve(k, i)) - samples.y(k, i), 2) / double(2 * curve.rows());
    const double variance = samples.variance();
    std::printf("loss %.2e of the variance of the data; over the whole curve %.2e\n",
                mean_loss / variance, apart / variance);
    return mean_loss < 1e-3 * variance && apart < 2e-2 * variance ? 0 : 1;
}
