#pragma once
// What went wrong on the host. Numerical outcomes are values (core/result.hpp), never exceptions.
// Test: tests/core/error.cpp

#include <eddy/core/export.hpp>
#include <eddy/core/message.hpp>
#include <stdexcept>
#include <type_traits>

namespace eddy::inline v0 {

/// The base of all exceptions of eddy. `catch (const eddy::Error& error)` catches each of them and
/// nothing else. Each also derives from an exception of the standard library.
class EDDY_EXPORT Error {
  public:
    Error() = default;
    Error(const Error&) = default;
    Error(Error&&) = default;
    Error& operator=(const Error&) = default;
    Error& operator=(Error&&) = default;
    virtual ~Error() = default;

    /// The message.
    [[nodiscard]] virtual const char* what() const noexcept = 0;
};

/// An exception of eddy that is also `Standard`.
template <class Standard>
struct EDDY_EXPORT ErrorAs : Standard, Error {
    using Standard::Standard;
    [[nodiscard]] const char* what() const noexcept override { return Standard::what(); }
};

/// A bad argument, found before any work. The message reads "where: what we got; what to do".
struct EDDY_EXPORT InvalidArgument : ErrorAs<std::invalid_argument> {
    using ErrorAs::ErrorAs;
};

/// A trajectory did not reach its end; `require_success` throws this. The message names the first
/// eight that failed.
struct EDDY_EXPORT SolveFailed : ErrorAs<std::runtime_error> {
    using ErrorAs::ErrorAs;
};

/// A checkpoint could not be written, or did not come back as it was written. The message names the
/// slot and the step.
struct EDDY_EXPORT StorageError : ErrorAs<std::runtime_error> {
    using ErrorAs::ErrorAs;
};

/// A loop body gave another state when a step was computed again. The message names the first such
/// step.
struct EDDY_EXPORT NonDeterministicBody : ErrorAs<std::runtime_error> {
    using ErrorAs::ErrorAs;
};

/// A call was cancelled that has no partial result to return.
struct EDDY_EXPORT Cancelled : ErrorAs<std::runtime_error> {
    using ErrorAs::ErrorAs;
};

/// A bug in eddy itself; please report it.
struct EDDY_EXPORT InternalError : ErrorAs<std::logic_error> {
    using ErrorAs::ErrorAs;
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
