#include <eddy/core/error.hpp>

namespace eddy::inline v0 {

void detail::throw_invalid_argument(std::string_view text,
                                    std::initializer_list<MessageValue> values) {
    throw InvalidArgument(compose_message(text, values));
}

void internal_check(bool holds, const char* claim, const char* file, int line) {
    if (!holds)
        throw InternalError(
            detail::compose("this is a bug in eddy: {} ({}:{})", claim, file, line));
}

}  // namespace eddy::inline v0
