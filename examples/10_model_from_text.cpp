// A model that the program reads: a grid of its parameters, and the gradient at each point, without a compiler between the model and
// its picture. `example_10_model_from_text examples/10_model_from_text.model docs/images/model_from_text.svg` draws the predators that
// are left after a time of 20, and which way they become more.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <eddy/runtime.hpp>
#include <fstream>
#include <sstream>

#include "picture_file.hpp"

struct Model {
    eddy::FieldText text;
    std::vector<double> start, least, largest;  // of the states; of the parameters
};
Model read(const char* name) {
    Model model;
    std::ifstream file(name);
    if (!file) std::fprintf(stderr, "%s: cannot be read\n", name), std::exit(2);
    for (std::string line, kind, of, equals, formula; std::getline(file, line);) {
        std::istringstream words(line);
        words >> kind >> of >> equals;
        std::getline(words, formula);
        std::istringstream numbers(formula);
        double a = 0, b = 0;
        numbers >> a;
        if (kind == "state") model.text.states.push_back(of), model.start.push_back(a);
        if (kind == "where") model.text.where.push_back({of, formula});
        if (kind == "rate") model.text.equations.push_back(formula);  // in the order of the states
        if (kind != "parameter" && kind != "vary") continue;
        model.text.parameters.push_back(of), model.least.push_back(a);
        model.largest.push_back(numbers >> b ? b : a);
    }
    return model;
}

int main(int argc, char** argv) {
    const Model model = read(argc > 1 ? argv[1] : "examples/10_model_from_text.model");
    std::ofstream picture = picture_file(argc - 1, argv + 1);
    const eddy::RuntimeField field = eddy::parse_field(model.text);

    constexpr int side = 20, points = side * side;
    const int n = field.num_states(), m = field.num_parameters();
    std::vector<int> varied;
    for (int j = 0; j < m; ++j) {
        if (model.least[j] != model.largest[j]) varied.push_back(j);
    }
    if (varied.size() != 2) return std::fprintf(stderr, "two parameters are to vary\n"), 1;
    eddy::EnsembleArray<double> y0(points, n), p(points, m);
    for (int k = 0; k < points; ++k) {
        const double along[2] = {(k % side + 0.5) / side, (k / side + 0.5) / side};
        for (int i = 0; i < n; ++i) y0(k, i) = model.start[i];
        for (int j = 0; j < m; ++j)
            p(k, j) = model.least[j] + along[j == varied[1]] * (model.largest[j] - model.least[j]);
    }
    const auto last = [n](auto, const auto& y, const auto&) { return y[n - 1]; };
    const eddy::SolveOptions options{.t1 = 20, .rtol = 1e-8, .atol = 1e-8};
    const auto [loss, gradient, report] =
        eddy::value_and_gradient(field, eddy::Tsit5{}, last, y0, p, options);

    // Darker where more is left; a dash with a head to where it becomes more.
    picture << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << side << ' ' << side
            << "' width='600' height='600' stroke='black' stroke-width='0.06'>\n";
    for (int k = 0; k < points; ++k) {
        double way[2], length = 1e-12;
        for (int a = 0; a < 2; ++a) {
            way[a] = gradient.p(k, varied[a]) * (model.largest[varied[a]] - model.least[varied[a]]);
            length = std::hypot(length, way[a]);
        }
        const double x = k % side + 0.5, y = side - 0.5 - k / side;
        const double dx = 0.35 * way[0] / length, dy = -0.35 * way[1] / length;
        const long light = std::lround(240 - 160 * std::clamp(loss(k), 0., 1.));
        picture << "<rect x='" << x - 0.5 << "' y='" << y - 0.5
                << "' width='1' height='1' stroke='none' fill='rgb(" << light - 60 << ',' << light
                << ",240)'/><path d='M" << x - dx << ' ' << y - dy << 'L' << x + dx << ' ' << y + dy
                << "'/><circle cx='" << x + dx << "' cy='" << y + dy << "' r='0.08'/>\n";
    }
    picture << "</svg>\n";

    // The gradient at one point beside what two more solves say.
    const int middle = points / 2 + side / 2, by = varied[0];
    double ends[2];
    for (int a = 0; a < 2; ++a) {
        auto moved = p;
        moved(middle, by) += a == 0 ? -1e-4 : 1e-4;
        ends[a] = eddy::solve(field, eddy::Tsit5{}, y0, moved, options).y()(middle, n - 1);
    }
    const double difference = (ends[1] - ends[0]) / 2e-4, slope = gradient.p(middle, by);
    std::printf("%s %.4f at %s %.3f; its derivative %.5f, by differences %.5f\n",
                model.text.states[n - 1].c_str(), loss(middle), model.text.parameters[by].c_str(),
                p(middle, by), slope, difference);
    return report.success() && std::abs(slope - difference) < 1e-4 * std::abs(slope) ? 0 : 1;
}
