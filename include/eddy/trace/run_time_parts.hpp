#pragma once
// What only a graph made at run time owns: the texts of its names, policies that have values, and the
// places in the source where its nodes were made.
// Graphs share them with their copies. A graph made at compile time has none, which is what lets a
// constant hold one: its names are literals, its policies types.
// Test: tests/ad/residuals.cpp, tests/trace/print.cpp

#include <eddy/trace/candidate.hpp>
#include <eddy/trace/source_place.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    [[nodiscard]] std::string_view keep(std::string_view text) {
        parts().texts.push_back(std::make_shared<const std::string>(text));
        return *parts_->texts.back();
    }

    /// Keeps a policy, and returns its place.
    template <class Policy>
    [[nodiscard]] int keep_policy(const Policy& policy) {
        parts().policies.push_back(std::make_shared<const PolicyOf<Policy>>(policy));
        return static_cast<int>(parts_->policies.size()) - 1;
    }
    [[nodiscard]] Saving ask(int place, const Candidate& value) const {
        return parts_->policies[static_cast<std::size_t>(place)]->ask(value);
    }

    /// Keeps a place in the source, once, and returns its number, from 1.
    [[nodiscard]] int keep_place(const SourcePlace& place) {
        std::vector<SourcePlace>& places = parts().places;
        for (std::size_t k = places.size(); k > 0; --k) {  // the latest is the likeliest
            if (places[k - 1] == place) return static_cast<int>(k);
        }
        places.push_back(place);
        return static_cast<int>(places.size());
    }
    /// The place of that number; 0 is that of none.
    [[nodiscard]] SourcePlace place(int number) const {
        return number == 0 ? SourcePlace{} : parts_->places[static_cast<std::size_t>(number) - 1];
    }

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
    struct Parts {
        std::vector<std::shared_ptr<const std::string>> texts;
        std::vector<std::shared_ptr<const AnyPolicy>> policies;
        std::vector<SourcePlace> places;
    };

    Parts& parts() {
        if (parts_ == nullptr) parts_ = std::make_unique<Parts>().release();
        return *parts_;
    }
    void copy(const RunTimeParts& other) {
        parts_ = std::make_unique<Parts>(*other.parts_).release();
    }
    void release() noexcept { const std::unique_ptr<Parts> owner(parts_); }
    Counts append_parts(const RunTimeParts& other) {
        const Parts added = *other.parts_;  // perhaps its own
        Parts& own = parts();
        const Counts before{static_cast<int>(own.policies.size()),
                            static_cast<int>(own.places.size())};
        own.texts.insert(own.texts.end(), added.texts.begin(), added.texts.end());
        own.policies.insert(own.policies.end(), added.policies.begin(), added.policies.end());
        own.places.insert(own.places.end(), added.places.begin(), added.places.end());
        return before;
    }

    Parts* parts_ = nullptr;  // owned; a smart pointer is no constant in C++20
};

}  // namespace eddy::inline v0
