#include <fmt/args.h>

#include <eddy/core/message.hpp>

namespace eddy::inline v0::detail {

std::string compose_message(std::string_view text, std::initializer_list<MessageValue> values) {
    fmt::dynamic_format_arg_store<fmt::format_context> arguments;
    for (const MessageValue& value : values) {
        switch (value.kind) {
            case MessageValue::Kind::integer: arguments.push_back(value.integer); break;
            case MessageValue::Kind::natural:
                arguments.push_back(static_cast<std::uint64_t>(value.integer));
                break;
            case MessageValue::Kind::real: arguments.push_back(value.real); break;
            case MessageValue::Kind::text: arguments.push_back(value.text); break;
        }
    }
    return fmt::vformat({text.data(), text.size()}, arguments);
}

}  // namespace eddy::inline v0::detail
