#pragma once
// What only a graph made at run time owns: the texts of its names, policies that have values, and the
// places in the source where its nodes were made.
// Graphs share them with their copies. A graph made at compile time has none, which is what lets a
// constant hold one: its names are literals, its policies types.
// Test: tests/ad/residuals.cpp, tests/trace/print.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/candidate.hpp>
#include <eddy/trace/source_place.hpp>
#include <memory>
#include <string_view>
#include <utility>

namespace eddy::inline v0 {

class RunTimeParts {
  public:
    constexpr RunTimeParts() = default;
    constexpr RunTimeParts(const RunTimeParts& other) {
        if (other.parts_ != nullptr) copy(other);
    }
    constexpr RunTimeParts(RunTimeParts&& other) noexcept
        : parts_(std::exchange(other.parts_, nullptr)) {}
    constexpr RunTimeParts& operator=(RunTimeParts other) noexcept {
        std::swap(parts_, other.parts_);
        return *this;
    }
    constexpr ~RunTimeParts() {
        if (parts_ != nullptr) release();
    }

    /// The same text, which now lives as long as the graph and its copies do.
    [[nodiscard]] EDDY_EXPORT std::string_view keep(std::string_view text);

    /// Keeps a policy, and returns its place.
    template <class Policy>
    [[nodiscard]] int keep_policy(const Policy& policy) {
        return keep_any(std::make_shared<const PolicyOf<Policy>>(policy));
    }
    [[nodiscard]] EDDY_EXPORT Saving ask(int place, const Candidate& value) const;

    /// Keeps a place in the source, once, and returns its number, from 1.
    [[nodiscard]] EDDY_EXPORT int keep_place(const SourcePlace& place);
    /// The place of that number; 0 is that of none.
    [[nodiscard]] EDDY_EXPORT SourcePlace place(int number) const;

    /// How many there are of what nodes and regions refer to by numbers.
    struct Counts {
        int policies = 0, places = 0;
    };
    /// Appends what another graph owns, and returns what there was before.
    constexpr Counts append(const RunTimeParts& other) {
        return other.parts_ == nullptr ? Counts{} : append_parts(other);
    }

  private:
    struct AnyPolicy {
        AnyPolicy() = default;
        AnyPolicy(const AnyPolicy&) = delete;
        AnyPolicy& operator=(const AnyPolicy&) = delete;
        virtual ~AnyPolicy() = default;
        [[nodiscard]] virtual Saving ask(const Candidate& value) const = 0;
    };
    template <class Policy>
    struct PolicyOf final : AnyPolicy {
        Policy policy;
        explicit PolicyOf(const Policy& given) : policy(given) {}
        [[nodiscard]] Saving ask(const Candidate& value) const override { return policy(value); }
    };
    struct Parts;

    Parts& parts();
    [[nodiscard]] EDDY_EXPORT int keep_any(std::shared_ptr<const AnyPolicy> policy);
    EDDY_EXPORT void copy(const RunTimeParts& other);
    EDDY_EXPORT void release() noexcept;
    EDDY_EXPORT Counts append_parts(const RunTimeParts& other);

    Parts* parts_ = nullptr;  // owned; a smart pointer is no constant in C++20
};

}  // namespace eddy::inline v0
