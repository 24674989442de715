#include <algorithm>
#include <cstring>
#include <eddy/core/error.hpp>
#include <eddy/interop/train/checkpoint_file.hpp>
#include <iterator>
#include <string_view>

#include "whole_file.hpp"

namespace eddy::inline v0::train::detail {
namespace {

struct Header {
    char magic[8] = {'e', 'd', 'd', 'y', 't', 'r', 'n', '2'};
    std::uint32_t bytes_per_number = 0;
    std::uint32_t byte_order = 0x01020304;
    std::uint64_t num_parameters = 0;
    std::int64_t num_steps = 0;
    char rule[24] = {};  // zeros behind its name

    void name_rule(std::string_view name) {
        require_argument(
            !name.empty() && name.size() < sizeof(rule),
            "train::save_checkpoint: the rule is called \"{}\"; give it a name of 1 to {} bytes",
            name, sizeof(rule) - 1);
        std::copy(name.begin(), name.end(), rule);
    }
    [[nodiscard]] std::string_view rule_name() const {
        return {rule, static_cast<std::size_t>(std::find(rule, std::end(rule), '\0') - rule)};
    }
};

}  // namespace

void write_checkpoint(const std::string& path, const TrainingShape& shape, std::int64_t num_steps,
                      TrainingParts parts) {
    Header header;
    header.bytes_per_number = shape.bytes_per_number;
    header.num_parameters = shape.num_parameters;
    header.num_steps = num_steps;
    header.name_rule(shape.rule);
    std::vector<std::span<const std::byte>> all{std::as_bytes(std::span(&header, 1))};
    all.insert(all.end(), parts.begin(), parts.end());
    eddy::detail::write_whole_file("train::save_checkpoint", path, all);
}

std::int64_t read_checkpoint(const std::string& path, const TrainingShape& shape,
                             std::span<const std::span<std::byte>> parts) {
    const std::string text = eddy::detail::read_whole_file("train::load_checkpoint", path);
    Header header;
    const Header expected;
    const bool has_header = text.size() >= sizeof(header);
    if (has_header) std::memcpy(&header, text.data(), sizeof(header));
    require_argument(has_header &&
                         std::string_view(header.magic, 8) == std::string_view(expected.magic, 8) &&
                         header.byte_order == expected.byte_order,
                     "train::load_checkpoint: \"{}\" is no checkpoint of a training on a machine "
                     "like this; give a file of save_checkpoint",
                     path);
    require_argument(header.num_parameters == shape.num_parameters &&
                         header.bytes_per_number == shape.bytes_per_number,
                     "train::load_checkpoint: \"{}\" has {} parameters of {} bytes; this training "
                     "has {} of {}",
                     path, header.num_parameters, header.bytes_per_number, shape.num_parameters,
                     shape.bytes_per_number);
    require_argument(header.rule_name() == shape.rule,
                     "train::load_checkpoint: \"{}\" is of a training by {}, this one is by {}; "
                     "take it up with the rule that it was begun with",
                     path, header.rule_name(), shape.rule);
    std::size_t num_bytes = sizeof(header);
    for (const auto& part : parts) num_bytes += part.size();
    require_argument(text.size() == num_bytes,
                     "train::load_checkpoint: \"{}\" has {} bytes of {}; it was not written to the "
                     "end, or with early stopping and is read without, or the other way round",
                     path, text.size(), num_bytes);
    const char* numbers = text.data() + sizeof(header);
    for (const auto& part : parts) {
        if (!part.empty()) std::memcpy(part.data(), numbers, part.size());
        numbers += part.size();
    }
    return header.num_steps;
}

}  // namespace eddy::inline v0::train::detail
