#pragma once
// Named results compared with those that a file holds, bit for bit. Hosts that fuse a multiply-add
// and hosts that do not compute different bits: each line of the file has a name, the value of the
// former and that of the latter. Few numbers are there as they are (hexadecimal floating point,
// without 0x); the others as a hash of all their bits.

#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <eddy/core/simd/has_fma.hpp>
#include <eddy/solve/call/solution.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace support {

/// FNV-1a over the bits of numbers; NaN of any payload are equal.
class BitHash {
  public:
    void add(std::uint64_t bits) {
        for (int byte = 0; byte < 8; ++byte)
            hash_ = (hash_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
    }
    void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
    void add(double x) { add(x != x ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x)); }
    void add(float x) { add(static_cast<double>(x)); }

    [[nodiscard]] std::string text() const { return number_text(hash_, 16); }

    template <class Number, class... Format>
    [[nodiscard]] static std::string number_text(Number x, Format... format) {
        char text[64];
        const auto end = std::to_chars(text, text + sizeof text, x, format...);
        return {text, end.ptr};
    }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The results of one group of solves.
class GoldenBits {
  public:
    GoldenBits(const char* path, const char* group) : path_(path), group_(group) {}

    void add(const std::string& name, std::floating_point auto x) {
        const auto value = static_cast<double>(x);
        entries_.emplace_back(
            group_ + "." + name,
            value != value ? "nan" : BitHash::number_text(value, std::chars_format::hex));
    }
    void add(const std::string& name, std::int64_t count) {
        entries_.emplace_back(group_ + "." + name, BitHash::number_text(count));
    }
    void add(const std::string& name, const BitHash& hash) {
        entries_.emplace_back(group_ + "." + name, hash.text());
    }
    /// (lane, component): the middle lane and a hash of all.
    template <class Array>
    void add_array(const std::string& name, const Array& array) {
        const auto middle = array.rows() / 2;
        BitHash hash;
        for (std::ptrdiff_t i = 0; i < array.cols(); ++i) {
            for (std::ptrdiff_t lane = 0; lane < array.rows(); ++lane) hash.add(array(lane, i));
            add(name + "[" + std::to_string(middle) + "," + std::to_string(i) + "]",
                array(middle, i));
        }
        add(name, hash);
    }
    /// How lanes ended and after how many steps.
    void add_outcomes(const std::string& name, const eddy::Outcomes& outcomes) {
        BitHash hash;
        std::int64_t num_failures = 0;
        for (std::ptrdiff_t lane = 0; lane < outcomes.num_lanes(); ++lane) {
            const auto stats = outcomes.stats(lane);
            const auto failure = outcomes.failure(lane);
            num_failures += eddy::is_failure(failure.result);
            for (const std::int64_t number :
                 {static_cast<std::int64_t>(failure.result), stats.accepted, stats.rejected,
                  stats.evaluations, failure.step, std::int64_t{failure.component}})
                hash.add(number);
            hash.add(failure.t);
        }
        const auto total = outcomes.total_stats();
        add(name + ".failures", num_failures);
        add(name + ".accepted", total.accepted);
        add(name + ".rejected", total.rejected);
        add(name + ".evaluations", total.evaluations);
        add(name + ".outcomes", hash);
    }

    /// Compares with the lines of this group; where the environment variable
    /// EDDY_WRITE_GOLDEN_BITS is set, writes them anew instead, for the hosts that are as this one.
    void check() const {
        auto lines = read();
        if (std::getenv("EDDY_WRITE_GOLDEN_BITS") != nullptr) return write(lines);
        for (const auto& [name, value] : entries_) {
            INFO(name);
            CHECK(value == lines[name][column]);
        }
        CHECK(entries_.size() == num_of_group(lines));  // each name once, and none that is left
    }

  private:
    static constexpr std::size_t column = eddy::simd::has_fma ? 0 : 1;
    struct Values {
        std::string of[2] = {"?", "?"};
        std::string& operator[](std::size_t i) { return of[i]; }
    };
    using Lines = std::map<std::string, Values>;

    [[nodiscard]] Lines read() const {
        std::ifstream file(path_);
        Lines lines;
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string name;
            Values values;
            words >> name >> values[0] >> values[1];
            lines[name] = values;
        }
        return lines;
    }
    [[nodiscard]] bool is_of_group(const std::string& name) const {
        return name.starts_with(group_ + ".");
    }
    [[nodiscard]] std::size_t num_of_group(const Lines& lines) const {
        std::size_t count = 0;
        for (const auto& line : lines) count += is_of_group(line.first);
        return count;
    }
    void write(Lines& lines) const {
        std::map<std::string, std::string> mine(entries_.begin(), entries_.end());
        std::erase_if(lines, [&](const auto& line) {
            return is_of_group(line.first) && !mine.contains(line.first);
        });
        for (const auto& [name, value] : mine) lines[name][column] = value;
        std::ofstream file(path_);
        for (auto& [name, values] : lines)
            file << name << ' ' << values[0] << ' ' << values[1] << '\n';
        CHECK(file.good());
    }

    std::string path_, group_;
    std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace support
