// The nine unknowns of a stiff model of reactions, fitted to published measurements by bounded
// maximum likelihood from thousands of starting points over ten decades: all searches are lanes of
// one ensemble, which forward mode tells where to go; reverse mode checks the end of it, forward over
// reverse gives standard errors, and profiles say what the data leave open.

#include <cstdio>

#include "fitting/main_function.hpp"
#include "fitting/stopwatch.hpp"
#include "picture.hpp"
#include "report.hpp"

namespace kinetics {

constexpr const char* usage =
    R"(usage: fit_kinetics [options] [measurements.csv]

Fits a model of the dimerization of STAT5 to measurements over time, by maximum likelihood, from
thousands of starting points. The file has the columns minutes, pSTAT5A_rel, pSTAT5B_rel and
rSTAT5A_rel in any order, in per cent, and at most 1000 rows; lines that start with # are comments.
Without a file, those of Boehm et al. 2014 are fitted.

  --output FOLDER   where kinetics.csv, kinetics.gp and kinetics.png go (default: here)
  --starts N        starting points, 1 to 1000000 (default: 4096)
  --quick           the same as --starts 64
  --threads N       threads, 1 to 1024 (default: one per core)
  --help            this text

Ctrl-C while a bar shows how far a search is ends the search; the best that it has found is the
fit. A second one within two seconds ends the program.

Exit code: 0 when a fit was found, 1 when none was, 2 when the input cannot be used.
)";

/// The search compares likelihoods to a hundredth; the best fit is polished at a finer tolerance.
constexpr double rtol = 1e-6;
constexpr SearchOptions search_options{
    .least_slope = 1e-3, .max_iterations = 150, .title = "search"};

int fit(const fitting::Request& request) {
    const fitting::Stopwatch stopwatch;
    const Measurements data = read_measurements(request.data_file);
    const fitting::OutputFiles files(request.output_folder, "kinetics", request.data_file);
    print_data(data, request.data_file);
    std::fflush(stdout);  // what follows takes a while

    Likelihood likelihood(data, request.num_threads, rtol);
    const std::vector<Fit> fits =
        minimise(likelihood, starting_points(request.num_starts),
                 std::vector<Box>(static_cast<std::size_t>(request.num_starts)), search_options);
    print_search(fits, {stopwatch.seconds(), likelihood.num_trajectories(),
                        likelihood.num_tangents(), likelihood.num_accepted()});
    const Fit* best = best_of(fits);
    if (best == nullptr) {
        std::fprintf(stderr, "no start ended at an optimum; try more of them with --starts\n");
        return 1;
    }
    std::fflush(stdout);

    const Estimate estimate = polish(data, *best);
    const std::vector<Profile> of_rates = profiles(data, estimate, request.num_threads);
    print_estimate(estimate, of_rates);
    if (request.data_file == KINETICS_MEASUREMENTS) print_published(data, estimate);
    write_files(files, data, fits, estimate, of_rates);
    std::printf("time: %.2f s\n", stopwatch.seconds());
    return 0;
}

}  // namespace kinetics

int main(int argc, char** argv) {
    return fitting::run({"fit_kinetics", kinetics::usage, KINETICS_MEASUREMENTS, kinetics::fit},
                        argc, argv);
}
