#include <eddy/solve/validate.hpp>
#include <sstream>

namespace eddy::detail {

namespace {

template <class... Parts>
[[noreturn]] void fail(const char* where, const Parts&... parts) {
    std::ostringstream message;
    message.precision(17);
    message << where << ": ";
    (message << ... << parts);
    throw InvalidArgument(message.str());
}

}  // namespace

void require_tolerances(const SolveOptions& options, int state_size, const char* where) {
    if (!(options.rtol > 0) || !std::isfinite(options.rtol))
        fail(where, "rtol = ", options.rtol, "; give a relative tolerance above 0, such as 1e-6");
    const auto& atol = options.atol.values;
    if (atol.size() != 1 && atol.size() != static_cast<std::size_t>(state_size))
        fail(where, "atol has ", atol.size(), " numbers; give one, or one for each of the ",
             state_size, " components");
    for (std::size_t i = 0; i < atol.size(); ++i) {
        if (!(atol[i] >= 0) || !std::isfinite(atol[i]))
            fail(where, "atol[", i, "] = ", atol[i], "; give an absolute tolerance of at least 0");
    }
}

void require_shape(std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t wanted_rows,
                   std::ptrdiff_t wanted_cols, const char* name, const char* where) {
    if (rows == wanted_rows && cols == wanted_cols) return;
    fail(where, name, " is ", rows, " x ", cols, " (lane, component); give ", wanted_rows, " x ",
         wanted_cols);
}

void throw_not_finite(double value, std::ptrdiff_t lane, std::ptrdiff_t component, const char* name,
                      const char* where) {
    fail(where, name, "(", lane, ", ", component, ") = ", value, "; give finite numbers");
}

}  // namespace eddy::detail
