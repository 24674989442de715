// Lotka and Volterra's equations fitted to the pelts of the Hudson's Bay Company, from thousands of
// starting points: an ensemble solve for a first look, forward mode inside Levenberg and
// Marquardt's method, reverse mode to check it, and one more ensemble for the band of fits that do
// as well.

#include <cstdio>
#include <exception>

#include "command_line.hpp"
#include "picture.hpp"
#include "report.hpp"
#include "shown_text.hpp"
#include "starts.hpp"
#include "stopwatch.hpp"

namespace lynx_hare {

int fit(const Request& request) {
    const Stopwatch stopwatch;
    const Counts counts = read_counts(request.counts_file);
    const OutputFiles files(request.output_folder, request.counts_file);
    print_data(counts, request.counts_file);
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

/// Exit code `code`, unless the words that belong to it could not be written.
int after_output(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "standard output: cannot be written; is there space?\n");
    return 1;
}

}  // namespace lynx_hare

int main(int argc, char** argv) try {
    const auto request = lynx_hare::parse({argv + 1, argv + argc}, LYNX_HARE_COUNTS);
    if (request.help) {
        std::fputs(lynx_hare::usage, stdout);
        return lynx_hare::after_output(0);
    }
    return lynx_hare::after_output(lynx_hare::fit(request));
} catch (const lynx_hare::BadInput& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
} catch (const std::exception& error) {
    std::fprintf(stderr, "fit_lynx_hare: %s\n", lynx_hare::shown(error.what(), 1000).c_str());
    return 1;
}
