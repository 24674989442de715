#pragma once
// The check that a step gives the same state when it is computed again: a hash of every state of a
// run, with which those of later evaluations are compared. Where it is to explain, the states
// themselves are kept, and what the body notes of its operations, so that the error says which
// component differs, both values, and the operations of both evaluations in order.
// Test: tests/checkpoint/determinism.cpp

#include <cstdint>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/state_hash.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/members.hpp>
#include <eddy/core/message.hpp>
#include <eddy/core/range.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// An operation that a body noted, and its result.
struct NotedOperation {
    std::string name, result;
};
/// A component of two states that should be the same.
struct StateDifference {
    std::string component, first, again;  // values are empty where they have no text
};

/// Where operations are noted in this thread; null: nowhere.
[[nodiscard]] EDDY_EXPORT std::vector<NotedOperation>*& noted_operations() noexcept;

[[noreturn]] EDDY_EXPORT void throw_differs(std::int64_t step,
                                            const std::vector<StateDifference>& differences,
                                            const std::vector<NotedOperation>& first,
                                            const std::vector<NotedOperation>& again);

template <class T>
[[nodiscard]] std::string value_text(const T& x) {
    if constexpr (std::is_arithmetic_v<T>) {
        return compose("{}", x);
    } else if constexpr (SizedRange<const T>) {
        std::string text;
        for (const auto& element : x) {
            constexpr std::size_t longest = 60;
            if (text.size() > longest) return "[" + text + ", …]";
            text += (text.empty() ? "" : ", ") + value_text(element);
        }
        return "[" + text + "]";
    } else {
        return {};
    }
}

/// Calls visit(component, a, b) for every number, or other part without parts, whose hashes differ.
template <class T, class Visit>
void visit_differences(const T& a, const T& b, const std::string& component, const Visit& visit) {
    if constexpr (HashableState<T>) {
        if (StateHash<T>{}(a, 0) == StateHash<T>{}(b, 0)) return;
        const auto in_parts = [&](const auto& left, const auto& right) {
            [&]<std::size_t... k>(std::index_sequence<k...>) {
                (visit_differences(std::get<k>(left), std::get<k>(right),
                                   compose("{}<{}>", component, k), visit),
                 ...);
            }
            (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(left)>>>{});
        };
        if constexpr (SizedRange<const T>) {
            if (std::ranges::size(a) != std::ranges::size(b)) {
                visit(component + " (number of elements)", std::ranges::size(a),
                      std::ranges::size(b));
                return;
            }
            auto right = std::ranges::begin(b);
            std::int64_t index = 0;
            for (const auto& left : a) {
                visit_differences(left, *right, compose("{}[{}]", component, index), visit);
                ++right;
                ++index;
            }
        } else if constexpr (requires { std::tuple_size<T>::value; }) {
            in_parts(a, b);
        } else if constexpr (ListsMembers<T>) {
            in_parts(tie_members(a), tie_members(b));
        } else {
            visit(component, a, b);
        }
    }
}

/// What a run is compared with: (step) hashes, and where it is to be explained states and operations.
template <class State>
class StateRecord {
  public:
    explicit StateRecord(Check check) : kind_(check.kind()) {}

    [[nodiscard]] bool is_on() const { return kind_ != Check::off; }
    void clear() {
        hashes_.clear();
        states_.clear();
        operations_.clear();
        now_.clear();
    }
    /// The state before the next step, or the last one.
    void record(const State& x) {
        hashes_.push_back(hash_of(x));
        if (kind_ != Check::explain) return;
        states_.push_back(x);
        operations_.push_back(std::exchange(now_, {}));  // of the step before
    }
    [[nodiscard]] bool has(const State& x, std::int64_t step) const {
        return hash_of(x) == hashes_[static_cast<std::size_t>(step)];
    }
    void verify(const State& x, std::int64_t step) const {
        if (has(x, step)) return;
        std::vector<StateDifference> differences;
        if (kind_ != Check::explain) throw_differs(step - 1, differences, {}, {});
        const auto k = static_cast<std::size_t>(step);
        visit_differences(
            states_[k], x, "",
            [&](const std::string& component, const auto& first, const auto& again) {
                differences.push_back({component, value_text(first), value_text(again)});
            });
        throw_differs(step - 1, differences, operations_[k], now_);
    }

    /// While it lives, what the body notes is noted here.
    class Noting {
      public:
        explicit Noting(std::vector<NotedOperation>* to)
            : before_(to != nullptr ? std::exchange(noted_operations(), to) : nullptr),
              is_on_(to != nullptr) {}
        Noting(const Noting&) = delete;
        Noting& operator=(const Noting&) = delete;
        ~Noting() {
            if (is_on_) noted_operations() = before_;
        }

      private:
        std::vector<NotedOperation>* before_;
        bool is_on_;
    };
    [[nodiscard]] Noting note_step() {
        if (kind_ != Check::explain) return Noting(nullptr);
        now_.clear();
        return Noting(&now_);
    }

  private:
    [[nodiscard]] static std::uint64_t hash_of(const State& x) {
        if constexpr (HashableState<State>) {
            return StateHash<State>{}(x, 0);
        } else {
            return 0;
        }
    }

    Check::Kind kind_;
    std::vector<std::uint64_t> hashes_;
    std::vector<State> states_;
    std::vector<std::vector<NotedOperation>> operations_;  // of the step before each state
    std::vector<NotedOperation> now_;                      // of the step that is being made
};

}  // namespace detail

/// Notes an operation of a loop's body and returns its result, as `const double y =
/// eddy::note_operation("random", draw());`. With `Check::explain` the error lists what was noted in
/// both evaluations of the step; else it is only the result. Results are numbers, or ranges of them.
template <class T>
constexpr T note_operation([[maybe_unused]] std::string_view name, T result) {
    if (!std::is_constant_evaluated()) {
        if (auto* noted = detail::noted_operations())
            noted->push_back({std::string(name), detail::value_text(result)});
    }
    return result;
}

}  // namespace eddy::inline v0
