#include "table.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "bad_input.hpp"
#include "shown_text.hpp"

namespace fitting {

namespace {

// Every one of thousands of starts is solved through all rows, again and again.
constexpr std::size_t most_rows = 1000;
// Far beyond what that many rows take: a file without an end must not be read to it.
constexpr std::size_t most_bytes = 1 << 20;
constexpr std::size_t most_listed_columns = 8;

struct Place {
    std::string file;
    int line = 0;

    [[noreturn]] void complain(const std::string& got, const std::string& remedy) const {
        const std::string where = line > 0 ? ":" + std::to_string(line) : "";
        throw BadInput(shown(file) + where + ": " + got + "; " + remedy);
    }
};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    const auto first = text.find_first_not_of(blank);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string_view unquoted(std::string_view text) {
    const bool in_quotes = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return in_quotes ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const auto comma = line.find(',');
        fields.push_back(unquoted(trimmed(line.substr(0, comma))));
        if (comma == line.npos) return fields;
        line.remove_prefix(comma + 1);
    }
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

std::string list(const std::vector<std::string_view>& names) {
    std::string listed;
    for (std::size_t i = 0; i < std::min(names.size(), most_listed_columns); ++i)
        listed += (i == 0 ? "" : ", ") + quoted(names[i]);
    if (names.size() > most_listed_columns)
        listed += " and " + std::to_string(names.size() - most_listed_columns) + " more";
    return listed;
}

/// "year, hare and lynx"
std::string in_words(const std::vector<std::string>& names) {
    std::string words = names.front();
    for (std::size_t i = 1; i < names.size(); ++i)
        words += (i + 1 == names.size() ? " and " : ", ") + names[i];
    return words;
}

/// The position of each wanted column.
struct Header {
    std::vector<std::size_t> column;
    std::size_t num_columns = 0;

    Header(const std::vector<std::string_view>& names, const TableForm& form, const Place& place)
        : num_columns(names.size()) {
        const std::string listed = list(names);
        for (const std::string_view wanted : form.columns) {
            const auto is_wanted = [&](auto name) {
                return lower_case(name) == lower_case(wanted);
            };
            const auto found = std::find_if(names.begin(), names.end(), is_wanted);
            if (found == names.end()) {
                place.complain(
                    "no column " + quoted(wanted) + " among " + listed,
                    "the first line must name " + in_words(form.columns) + ", with commas between");
            }
            if (std::find_if(found + 1, names.end(), is_wanted) != names.end()) {
                place.complain("two columns " + quoted(wanted) + " in " + listed,
                               "name each column once");
            }
            column.push_back(static_cast<std::size_t>(found - names.begin()));
        }
    }
};

double number(std::string_view text, std::string_view column, const Place& place) {
    const std::string got = std::string(column) + " is " + quoted(text);
    if (text.empty()) {
        place.complain("no " + std::string(column), "write a number, or remove the row");
    }
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        place.complain(got, "write a number, with a point before its decimals");
    }
    if (!std::isfinite(value)) place.complain(got, "write a finite number");
    return value;
}

double value(std::string_view text, std::string_view column, const TableForm& form,
             const Place& place) {
    const double value = number(text, column, place);
    if (!form.above_zero.empty() && !(value > 0))
        place.complain(std::string(column) + " is " + quoted(text), form.above_zero);
    return value;
}

void append_row(std::vector<std::vector<double>>& table, const TableForm& form,
                const Header& header, const std::vector<std::string_view>& fields,
                const Place& place) {
    if (fields.size() != header.num_columns) {
        place.complain(std::to_string(fields.size()) + " fields under " +
                           std::to_string(header.num_columns) + " columns",
                       "write one field for each column");
    }
    std::vector<double>& along = table.front();
    const std::string& name = form.columns.front();
    const std::string_view text = fields[header.column.front()];
    if (along.size() == most_rows) {
        place.complain("more than " + std::to_string(most_rows) + " rows of " + form.contents,
                       "every start is solved through all of them: give fewer");
    }
    const double at = number(text, name, place);
    if (!along.empty() && !(at > along.back())) {
        place.complain(name + " " + quoted(text) + " does not come after the row above",
                       "sort the rows by " + name + ", and give no time twice");
    }
    std::vector<double> row{at};
    for (std::size_t i = 1; i < table.size(); ++i)
        row.push_back(value(fields[header.column[i]], form.columns[i], form, place));
    for (std::size_t i = 0; i < table.size(); ++i) table[i].push_back(row[i]);
}

/// All that is in the file. A stream that fails on the way is told from one that ends.
std::string read_whole(const Place& place, const TableForm& form) {
    if (!std::filesystem::exists(place.file)) {
        place.complain("there is no such file",
                       "give a CSV with the columns " + in_words(form.columns));
    }
    std::ifstream stream(place.file);
    if (std::filesystem::is_directory(place.file) || !stream) {
        place.complain("this is not a file that can be read", "give a CSV file");
    }
    std::string text(most_bytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (stream.bad()) place.complain("reading it failed", "copy the file to a disk that works");
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most_bytes) {
        place.complain("there is more than " + std::to_string(most_bytes) + " bytes in it",
                       "give a CSV of at most " + std::to_string(most_rows) + " rows");
    }
    return text;
}

/// Cuts the first line off `rest`, which is not empty.
std::string_view take_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    return line;
}

}  // namespace

std::vector<std::vector<double>> read_table(const std::string& file, const TableForm& form) {
    Place place{file};
    const std::string text = read_whole(place, form);
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

    std::vector<std::vector<double>> table(form.columns.size());
    std::optional<Header> header;
    for (std::string_view rest = text; !rest.empty();) {
        ++place.line;
        std::string_view line = take_line(rest);
        if (place.line == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(3);
        line = trimmed(line);
        if (line.empty() || line.starts_with('#')) continue;
        const auto fields = fields_of(line);
        if (header) {
            append_row(table, form, *header, fields, place);
        } else {
            header.emplace(fields, form, place);
        }
    }
    if (!header) {
        std::string first_line;
        for (const std::string& name : form.columns)
            first_line += (first_line.empty() ? "" : ",") + name;
        place.complain("nothing is in it", "begin with the line " + first_line);
    }
    const std::size_t num_rows = table.front().size();
    if (num_rows < static_cast<std::size_t>(form.fewest_rows)) {
        place.complain(
            std::to_string(num_rows) + (num_rows == 1 ? " row of " : " rows of ") + form.contents,
            form.num_unknowns + " unknowns are fitted, give at least " +
                std::to_string(form.fewest_rows));
    }
    return table;
}

}  // namespace fitting
