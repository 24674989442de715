#pragma once
// The n-th allocation of a call fails, for every n until the call has no more: then the same call
// on the same object must give the exact answer, and nothing may stay behind.

#include <cstdint>
#include <exception>

#include "support/counting_new.hpp"

namespace support {

struct FailedAllocations {
    std::int64_t failures = 0;    // calls in which an allocation failed
    std::int64_t exceptions = 0;  // of those, how many threw
    std::int64_t wrong = 0;       // second calls, or calls that did not throw, with another answer
    std::int64_t leaked = 0;      // allocations that outlived their object
};

/// `make()` yields an object, `call(object)` its answer, whose type has ==.
template <class Make, class Call>
FailedAllocations fail_each_allocation(const Make& make, const Call& call, bool all_later_too) {
    const auto expected = [&] {
        auto object = make();
        return call(object);
    }();
    FailedAllocations found;
    for (std::int64_t nth = 1;; ++nth) {
        const std::int64_t live = live_allocations;
        bool has_failed = false;
        {
            auto object = make();
            try {
                const FailingAllocation failing(nth, all_later_too);
                try {
                    const auto answer = call(object);
                    has_failed = failing.has_failed();
                    found.wrong += answer != expected;
                } catch (...) {
                    has_failed = failing.has_failed();
                    throw;
                }
            } catch (const std::exception&) {
                ++found.exceptions;
            }
            found.wrong += call(object) != expected;
        }
        found.leaked += live_allocations - live;
        if (!has_failed) return found;
        ++found.failures;
    }
}

/// The same for what makes its own objects: `call()`.
template <class Call>
FailedAllocations fail_each_allocation(const Call& call, bool all_later_too) {
    return fail_each_allocation([] { return 0; }, [&](int) { return call(); }, all_later_too);
}

}  // namespace support
