#include "command_line.hpp"

#include <charconv>

#include "bad_input.hpp"
#include "shown_text.hpp"

namespace fitting {

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
        } else if (!request.data_file.empty()) {
            throw BadInput(shown(argument) + ": a second file after " + shown(request.data_file) +
                           "; give one file");
        } else {
            request.data_file = argument;
        }
    }
    if (request.data_file.empty()) request.data_file = default_file;
    return request;
}

}  // namespace fitting
