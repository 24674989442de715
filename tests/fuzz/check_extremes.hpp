#pragma once
// A call with every extreme of its options: it is refused in a good sentence, or does what it says.

#include <string>

#include "fuzz/extremes.hpp"
#include "fuzz/invariants.hpp"
#include "fuzz/watchdog.hpp"
#include "support/catch.hpp"

namespace fuzz {

/// call(options) for each of the extremes of `good`; the good one is not refused.
template <class Options, class Call>
void check_extremes(const Options& good, const std::string& name, const Call& call) {
    call(good);
    for (const auto& extreme : all_extremes(good)) {
        const std::string what = name + ", " + extreme.text;
        INFO(what);
        watch(what);
        try {
            call(extreme.value);
        } catch (const eddy::InvalidArgument& error) {
            CHECK(is_good_sentence(error.what()));
        }
        stop_watching();
    }
}

}  // namespace fuzz
