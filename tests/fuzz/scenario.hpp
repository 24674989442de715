#pragma once
// A random call: which problem, which kind of call, with what. The seed decides everything.

#include "fuzz/problem.hpp"

namespace fuzz {

/// What is known of a call before it is made.
enum class Expectation {
    accepted,  ///< nothing is wrong with it
    refused,   ///< something is: InvalidArgument before any work
    either,    ///< an option has an extreme value: one or the other
};

struct Scenario {
    const Problem* problem = nullptr;
    Kind kind = Kind::solve;
    Ask ask;
    Expectation expectation = Expectation::accepted;
    std::string changed;  ///< what is wrong or extreme, in words
};

/// A good call of a problem.
[[nodiscard]] Ask random_ask(const Problem& problem, Random& random);
/// Arrays of `lanes` lanes for it: starting values, parameters, tangents, and seeds for each save
/// point.
void fill_lanes(const Problem& problem, Kind kind, Random& random, std::ptrdiff_t lanes, Ask& ask);

[[nodiscard]] Scenario random_scenario(std::uint64_t seed);

[[nodiscard]] const char* name_of(Kind kind);
[[nodiscard]] std::string describe(const Scenario& scenario);

}  // namespace fuzz
