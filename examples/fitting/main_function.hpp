#pragma once
// What every fit's main() does around its work: the words of --help, failures and exit codes.

#include <cstdio>
#include <exception>

#include "bad_input.hpp"
#include "command_line.hpp"
#include "shown_text.hpp"

namespace fitting {

struct Program {
    const char* name;
    const char* usage;
    const char* default_file;
    int (*fit)(const Request& request);  ///< its exit code; may throw
};

/// Exit code `code`, unless the words that belong to it could not be written.
inline int after_output(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fprintf(stderr, "standard output: cannot be written; is there space?\n");
    return 1;
}

[[nodiscard]] inline int run(const Program& program, int argc, char** argv) {
    try {
        const Request request = parse({argv + 1, argv + argc}, program.default_file);
        if (!request.help) return after_output(program.fit(request));
        std::fputs(program.usage, stdout);
        return after_output(0);
    } catch (const BadInput& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program.name, shown(error.what(), 1000).c_str());
        return 1;
    }
}

}  // namespace fitting
