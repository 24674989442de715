// Lotka and Volterra's equations fitted to the pelts of the Hudson's Bay Company, from thousands of
// starting points: an ensemble solve for a first look, forward mode inside Levenberg and
// Marquardt's method, reverse mode to check it, and one more ensemble for the band of fits that do
// as well.

#include <cstdio>

#include "fitting/main_function.hpp"
#include "fitting/stopwatch.hpp"
#include "picture.hpp"
#include "report.hpp"
#include "starts.hpp"
#include "usage.hpp"

namespace lynx_hare {

int fit(const fitting::Request& request) {
    const fitting::Stopwatch stopwatch;
    const Counts counts = read_counts(request.data_file);
    const fitting::OutputFiles files(request.output_folder, "lynx_hare", request.data_file);
    print_data(counts, request.data_file);
    std::fflush(stdout);  // what follows takes a while

    const UnknownsArray starts = starting_points(counts, request.num_starts);
    print_screening(screen(counts, starts));
    std::fflush(stdout);
    const Refinement refinement = refine_all(counts, starts, request.num_threads);
    print_refinement(refinement);
    const Fit* best = best_of(refinement.fits);
    if (best == nullptr) {
        std::fprintf(stderr, "no start ended at an optimum; try more of them with --starts\n");
        return 1;
    }

    const Estimate estimate = polish(counts, best->unknowns);
    print_estimate(estimate);
    const Band band = near_optimal_band(counts, estimate);
    print_band(band, estimate);
    write_files(files, counts, estimate, band);
    std::printf("time: %.2f s\n", stopwatch.seconds());
    return 0;
}

}  // namespace lynx_hare

int main(int argc, char** argv) {
    return fitting::run({"fit_lynx_hare", lynx_hare::usage, LYNX_HARE_COUNTS, lynx_hare::fit}, argc,
                        argv);
}
