#include "command_line.hpp"

#include <charconv>

#include "counts.hpp"
#include "shown_text.hpp"

namespace lynx_hare {

const char* const usage =
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

Exit code: 0 when a fit was found, 1 when none was, 2 when the input cannot be used.
)";

namespace {

int whole_number(const std::string& option, const std::string& text, int largest) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || value < 1 || value > largest) {
        throw BadInput(option + ": " + quoted(text) + "; give a whole number from 1 to " +
                       std::to_string(largest));
    }
    return value;
}

void set(Request& request, const std::string& option, const std::string& value) {
    if (option == "--output") request.output_folder = value;
    if (option == "--starts") request.num_starts = whole_number(option, value, 1'000'000);
    if (option == "--threads") request.num_threads = whole_number(option, value, 1024);
}

}  // namespace

Request parse(const std::vector<std::string>& arguments, const std::string& default_file) {
    Request request;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--help") {
            request.help = true;
        } else if (argument == "--quick") {
            request.num_starts = 64;
        } else if (argument == "--output" || argument == "--starts" || argument == "--threads") {
            if (i + 1 == arguments.size())
                throw BadInput(argument + ": nothing follows; see --help");
            set(request, argument, arguments[++i]);
        } else if (argument.starts_with("-")) {
            throw BadInput(shown(argument) + ": there is no such option; see --help");
        } else if (!request.counts_file.empty()) {
            throw BadInput(shown(argument) + ": a second file after " + shown(request.counts_file) +
                           "; give one file");
        } else {
            request.counts_file = argument;
        }
    }
    if (request.counts_file.empty()) request.counts_file = default_file;
    return request;
}

}  // namespace lynx_hare
