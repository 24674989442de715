#pragma once
// What holds for every call, whatever it was given. Each invariant makes the call again in another
// way that must not matter, or looks at what came out.

#include <functional>
#include <string>

#include "fuzz/scenario.hpp"

namespace fuzz {

struct Counts {
    std::int64_t calls = 0;
    std::int64_t lanes = 0;        ///< of the calls that were accepted
    std::int64_t comparisons = 0;  ///< of one lane with itself, computed in another way
    std::int64_t refused = 0;
    std::int64_t failures = 0;
};

/// Makes the call of a scenario and those that it is compared with. `tell` is given each invariant
/// that does not hold, in words.
void check_invariants(const Scenario& scenario, std::uint64_t seed, Counts& counts,
                      const std::function<void(const std::string&)>& tell);

/// Is it "where: what we got; what to do"?
[[nodiscard]] bool is_good_sentence(const std::string& message);

}  // namespace fuzz
