#pragma once

namespace lynx_hare {

inline const char* const usage =
    R"(usage: fit_lynx_hare [options] [counts.csv]

Fits hare' = a hare - b hare lynx, lynx' = -c lynx + d hare lynx to yearly counts, by least
squares on the logarithms of both, from thousands of starting points. The file has the columns
year, hare and lynx in any order, and at most 1000 rows; lines that start with # are comments.
Without a file, the pelts of the Hudson's Bay Company are fitted, 1900 to 1920.

  --output FOLDER   where lynx_hare.csv, lynx_hare.gp and lynx_hare.png go (default: here)
  --starts N        starting points, 1 to 1000000 (default: 4096)
  --quick           the same as --starts 64
  --threads N       threads, 1 to 1024 (default: one per core)
  --help            this text

Ctrl-C while a bar shows how far a search is ends the search; the best that it has found is the
fit. A second one within two seconds ends the program.

Exit code: 0 when a fit was found, 1 when none was, 2 when the input cannot be used.
)";

}  // namespace lynx_hare
