#include <eddy/core/error.hpp>

namespace eddy {

void internal_check(bool holds, const char* claim, std::source_location where) {
    if (holds) return;
    throw InternalError(std::string("this is a bug in eddy: ") + claim + " (" + where.file_name() + ":" +
                        std::to_string(where.line()) + ")");
}

}  // namespace eddy
