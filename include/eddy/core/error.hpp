#pragma once
// What went wrong on the host. Numerical outcomes are values (core/result.hpp), never exceptions.

#include <eddy/core/export.hpp>
#include <eddy/core/message.hpp>
#include <stdexcept>
#include <type_traits>

namespace eddy::inline v0 {

/// A bad argument, found before any work. The message reads "where: what we got; what to do".
struct EDDY_EXPORT InvalidArgument : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// A checkpoint could not be written, or did not come back as it was written. The message names the
/// slot and the step.
struct EDDY_EXPORT StorageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A loop body gave another state when a step was computed again. The message names the first such
/// step.
struct EDDY_EXPORT NonDeterministicBody : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A stop was requested where there is nothing to return that would not be taken for an answer.
struct EDDY_EXPORT Cancelled : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A bug in eddy itself.
struct EDDY_EXPORT InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

namespace detail {

[[noreturn]] EDDY_EXPORT void throw_invalid_argument(std::string_view text,
                                                     std::initializer_list<MessageValue> values);

}  // namespace detail

/// Throws `InvalidArgument` unless `valid`, with a text that has {} for each value.
template <class... Values>
void require_argument(bool valid, std::type_identity_t<detail::MessageText<sizeof...(Values)>> text,
                      const Values&... values) {
    if (!valid) [[unlikely]]
        detail::throw_invalid_argument(text.text, {detail::MessageValue(values)...});
}

/// Throws `InternalError` unless `holds`. The defaults name the caller; clang 14 knows the builtins
/// but not std::source_location.
EDDY_EXPORT void internal_check(bool holds, const char* claim, const char* file = __builtin_FILE(),
                                int line = __builtin_LINE());

}  // namespace eddy::inline v0
