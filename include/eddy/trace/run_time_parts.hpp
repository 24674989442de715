#pragma once
// What only a graph made at run time owns: the texts of its names, and policies that have values.
// Graphs share them with their copies. A graph made at compile time has none, which is what lets a
// constant hold one: its names are literals, its policies types.
// Test: tests/ad/residuals.cpp, tests/trace/print.cpp

#include <eddy/trace/candidate.hpp>
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

    /// Appends what another graph owns, and returns the place of its first policy here.
    constexpr int append(const RunTimeParts& other) {
        return other.parts_ == nullptr ? 0 : append_parts(other);
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
    };

    Parts& parts() {
        if (parts_ == nullptr) parts_ = std::make_unique<Parts>().release();
        return *parts_;
    }
    void copy(const RunTimeParts& other) {
        parts_ = std::make_unique<Parts>(*other.parts_).release();
    }
    void release() noexcept { const std::unique_ptr<Parts> owner(parts_); }
    int append_parts(const RunTimeParts& other) {
        const Parts added = *other.parts_;  // perhaps its own
        const auto first = static_cast<int>(parts().policies.size());
        parts_->texts.insert(parts_->texts.end(), added.texts.begin(), added.texts.end());
        parts_->policies.insert(parts_->policies.end(), added.policies.begin(),
                                added.policies.end());
        return first;
    }

    Parts* parts_ = nullptr;  // owned; a smart pointer is no constant in C++20
};

}  // namespace eddy::inline v0
