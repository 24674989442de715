#include <eddy/core/error.hpp>

namespace eddy {

void internal_check(bool holds, const char* claim, const char* file, int line) {
    if (holds) return;
    throw InternalError(std::string("this is a bug in eddy: ") + claim + " (" + file + ":" +
                        std::to_string(line) + ")");
}

}  // namespace eddy
