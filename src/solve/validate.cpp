#include <eddy/solve/ask/validate.hpp>
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

void require_tolerances(const SolveOptions& options, int state_size, const Precision& precision,
                        const char* where) {
    if (!(options.rtol > 0) || !std::isfinite(options.rtol))
        fail(where, "rtol = ", options.rtol, "; give a relative tolerance above 0, such as 1e-6");
    if (options.rtol < precision.smallest_rtol)
        fail(where, "rtol = ", options.rtol, " is less than states of ", precision.type,
             " resolve; give at least ", precision.smallest_rtol);
    if (options.rtol > precision.largest)
        fail(where, "rtol = ", options.rtol, " is no ", precision.type,
             "; give a relative tolerance above 0, such as 1e-6");
    const auto& atol = options.atol.values;
    if (atol.size() != 1 && atol.size() != static_cast<std::size_t>(state_size))
        fail(where, "atol has ", atol.size(), " numbers; give one, or one for each of the ",
             state_size, " components");
    for (std::size_t i = 0; i < atol.size(); ++i) {
        if (!(atol[i] >= 0) || !std::isfinite(atol[i]))
            fail(where, "atol[", i, "] = ", atol[i], "; give an absolute tolerance of at least 0");
        if (atol[i] > precision.largest)
            fail(where, "atol[", i, "] = ", atol[i], " is no ", precision.type,
                 "; give an absolute tolerance of at most ", precision.largest);
    }
}

void require_valid(const PIDController& controller, const char* where) {
    const auto& [pcoeff, icoeff, dcoeff, safety, min_factor, max_factor] = controller;
    // Controllers compute in single precision: beyond its range a step's size would be NaN.
    constexpr double most = 1e30;
    if (!(std::fabs(pcoeff) <= most && std::fabs(icoeff) <= most && std::fabs(dcoeff) <= most))
        fail(where, "PIDController with pcoeff = ", pcoeff, ", icoeff = ", icoeff,
             ", dcoeff = ", dcoeff, "; give finite coefficients");
    if (!(safety > 0 && safety < 1))
        fail(where, "PIDController with safety = ", safety,
             "; give a factor between 0 and 1, such as 0.9");
    if (!(min_factor > 0 && min_factor < 1))
        fail(where, "PIDController with min_factor = ", min_factor,
             "; give a factor between 0 and 1, such as 0.2");
    if (!(max_factor >= 1))
        fail(where, "PIDController with max_factor = ", max_factor,
             "; give a factor of at least 1, such as 10");
}

void require_shape(const ArrayShape& got, const ArrayShape& wanted, const char* name,
                   const char* where, const char* alternative) {
    if (got == wanted) return;
    fail(where, name, " is ", got.rows, " x ", got.cols, " (lane, component); give ", wanted.rows,
         " x ", wanted.cols, alternative);
}

void throw_not_finite(double value, std::ptrdiff_t lane, std::ptrdiff_t component, const char* name,
                      const char* where) {
    fail(where, name, "(", lane, ", ", component, ") = ", value, "; give finite numbers");
}

}  // namespace eddy::detail
