// A model of short-term interest rates fitted to 50 years of them from thousands of starting points:
// likelihoods by simulated paths, with exact gradients, checked against two that are known.

#include <cstdio>

#include "../fitting/main_function.hpp"
#include "../fitting/stopwatch.hpp"
#include "picture.hpp"
#include "report.hpp"

namespace short_rate {

constexpr const char* usage = R"(usage: fit_sde [options] [rates.csv]

Fits dr = (a + b r) dt + sigma r^gamma dW to a rate r observed at even times, by simulated maximum
likelihood from thousands of starting points. The file has the columns year and rate, in per cent a
year, in any order, and at most 1000 rows; lines that start with # are comments. Without a file,
the rates of 3-month US Treasury bills are fitted, 1959 to 2009.

  --output FOLDER   where short_rate.csv, short_rate.gp and short_rate.png go (default: here)
  --starts N        starting points, 1 to 1000000 (default: 4096)
  --quick           the same as --starts 64
  --threads N       threads, 1 to 1024 (default: one per core)
  --help            this text

Ctrl-C while a bar shows how far a search is ends the search; the best that it has found is the
fit. A second one within two seconds ends the program.

Exit code: 0 when a fit was found, 1 when none was, 2 when the input cannot be used.
)";

int fit(const fitting::Request& request) {
    const fitting::Stopwatch stopwatch;
    const Rates rates = read_rates(request.data_file);
    const fitting::OutputFiles files(request.output_folder, "short_rate", request.data_file);
    print_data(rates, request.data_file);
    const Checks checks = check(rates, request.num_threads);
    print_checks(checks);
    std::fflush(stdout);  // what follows takes a while

    const Simulation coarse{.steps = 8, .paths = 64, .num_threads = request.num_threads};
    const Simulation fine{.steps = 8, .paths = 1024, .num_threads = request.num_threads};
    const Search found = search(rates, request.num_starts, coarse);
    print_search(found, coarse);
    std::fflush(stdout);
    Summit best;
    if (!found.summits.empty()) {
        Likelihood likelihood(rates, fine);
        best = maximise([&](const Eigen::VectorXd& at) { return likelihood.with_gradient(at); },
                        found.summits.front().at, typical_errors(), 1e-4);
        if (best.is_optimum) print_estimate(best, standard_errors(likelihood, best.at), fine);
    }
    if (!best.is_optimum) {
        std::fprintf(stderr, "no start ended at an optimum; try more of them with --starts\n");
        return 1;
    }
    write_files(files, rates, {best.at, checks.euler.at, checks.exact.model},
                fan_of(rates, best.at, 20));
    std::printf("time: %.2f s\n", stopwatch.seconds());
    return 0;
}

}  // namespace short_rate

int main(int argc, char** argv) {
    return fitting::run({"fit_sde", short_rate::usage, SHORT_RATES, short_rate::fit}, argc, argv);
}
