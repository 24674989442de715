// Learns the density of two moons from samples. Prints the mean log likelihood of samples that the training
// has not seen, against that of the density they were drawn from, writes a picture of both densities, and
// returns 0 where they are close.
//
//   example_cnf_two_moons [picture.svg [steps]]
//
// The picture of docs/guide/neural.md: `build/release/examples/cnf_two_moons/example_cnf_two_moons moons.svg`, then
// `rsvg-convert -w 800 moons.svg -o docs/images/two_moons.png`

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "picture_file.hpp"
#include "training.hpp"

namespace {

/// The learned log density at the points of an array, (lane).
std::vector<double> learned_log_density(const Array& points, const std::vector<float>& p) {
    const auto solution = eddy::solve(Flow{}, eddy::Tsit5{}, points, eddy::shared(p),
                                      {.t1 = 1, .rtol = 1e-5, .atol = 1e-6}, eddy::Tiles{});
    std::vector<double> all;
    for (std::ptrdiff_t lane = 0; lane < points.rows(); ++lane) {
        eddy::Vec<double, 3> end;
        for (int i = 0; i < 3; ++i) end[i] = solution.y()(lane, i);
        all.push_back(log_density(end));
    }
    return all;
}

struct Likelihood {
    double learned = 0, known = 0;  // mean logarithms
};

Likelihood likelihood(const Moons& moons, const std::vector<float>& p) {
    constexpr std::ptrdiff_t count = 5000;
    constexpr std::uint32_t unseen = 0;  // training's streams begin at 1
    Array points(count, Flow::state_size);
    put_samples(moons, unseen, points);
    const std::vector<double> learned = learned_log_density(points, p);
    Likelihood mean;
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        mean.learned += learned[std::size_t(lane)] / count;
        mean.known += moons.log_density({points(lane, 0), points(lane, 1)}) / count;
    }
    return mean;
}

/// Two maps side by side, each a grid of densities in sixteen shades.
class Maps {
  public:
    explicit Maps(std::ofstream& svg) : svg_(svg) {
        svg_ << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << 2 * columns + 4 << ' '
             << rows + 8 << "' width='1000' height='372' font-family='sans-serif' font-size='5'>"
             << "<rect width='100%' height='100%' fill='white'/>\n";
    }
    ~Maps() { svg_ << "</svg>\n"; }

    [[nodiscard]] static Array grid() {
        Array points(std::ptrdiff_t{rows} * columns, Flow::state_size);
        for (std::ptrdiff_t k = 0; k < points.rows(); ++k) {
            points(k, 0) = (static_cast<float>(k % columns) + 0.5f) * 4.f / columns - 2.f;
            points(k, 1) = 1.4f - (static_cast<float>(k / columns) + 0.5f) * 2.8f / rows;
        }
        return points;
    }
    void draw(int left, const char* title, const std::vector<double>& log_density) {
        svg_ << "<text x='" << left << "' y='6'>" << title
             << "</text><g shape-rendering='crispEdges'>\n";
        for (int row = 0; row < rows; ++row) {
            for (int from = 0, to = 0; from < columns; from = to) {
                const int shade = shade_of(log_density[std::size_t(row * columns + from)]);
                while (to < columns &&
                       shade_of(log_density[std::size_t(row * columns + to)]) == shade)
                    ++to;
                if (shade > 0)
                    svg_ << "<rect x='" << left + from << "' y='" << row + 8 << "' width='"
                         << to - from << "' height='1' fill='rgb(" << 240 - 14 * shade << ','
                         << 245 - 14 * shade << ',' << 250 - 9 * shade << ")'/>\n";
            }
        }
        svg_ << "</g>\n";
    }
    static constexpr int rows = 105, columns = 150;

  private:
    static int shade_of(double log_density) {
        return std::min(15, static_cast<int>(std::exp(log_density) / 0.55 * 15 + 0.5));
    }
    std::ofstream& svg_;
};

void write_picture(std::ofstream& svg, const Moons& moons, const std::vector<float>& p) {
    const Array points = Maps::grid();
    std::vector<double> known;
    for (std::ptrdiff_t k = 0; k < points.rows(); ++k)
        known.push_back(moons.log_density({points(k, 0), points(k, 1)}));
    Maps maps(svg);
    maps.draw(0, "learned", learned_log_density(points, p));
    maps.draw(Maps::columns + 4, "known", known);
}

}  // namespace

int main(int argc, char** argv) {
    std::ofstream picture = picture_file(argc, argv);
    const Moons moons;
    const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 1500;
    const std::vector<float> p = train(moons, steps, 256);
    const Likelihood mean = likelihood(moons, p);
    std::printf(
        "mean log likelihood of unseen samples: learned %.3f, known density %.3f, apart %.3f\n",
        mean.learned, mean.known, mean.known - mean.learned);
    if (picture.is_open()) write_picture(picture, moons, p);
    return mean.known - mean.learned < (steps < 1500 ? 0.5 : 0.15) ? 0 : 1;
}
