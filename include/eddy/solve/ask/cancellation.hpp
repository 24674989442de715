#pragma once
// What may end one call before its time.
// Test: tests/solve/cancelled.cpp, tests/fuzz/invariants.cpp

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

/// Refers to a function that says whether to go on, for as long as a call takes.
class Poll {
  public:
    Poll() = default;
    template <class Function>
    explicit Poll(const Function& function)
        : function_(&function),
          ask_([](const void* asked) -> bool { return (*static_cast<const Function*>(asked))(); }) {
    }

    [[nodiscard]] explicit operator bool() const { return function_ != nullptr; }
    [[nodiscard]] bool operator()() const { return ask_(function_); }

  private:
    const void* function_ = nullptr;
    bool (*ask_)(const void*) = nullptr;
};

template <class Function>
concept Polls = requires(const Function& function) {
    { function() } -> std::same_as<bool>;
};

}  // namespace detail

/// What may end one call, in place of what the options say: a token, a function that is asked
/// whether to go on, or both. Refers to the function, which must live until the call returns.
class Cancellation {
  public:
    Cancellation() = default;
    Cancellation(std::stop_token token) : token_(std::move(token)), has_token_(true) {}
    template <detail::Polls Function>
    Cancellation(const Function& poll) : poll_(poll) {}
    template <detail::Polls Function>
    Cancellation(std::stop_token token, const Function& poll)
        : token_(std::move(token)), poll_(poll), has_token_(true) {}

    [[nodiscard]] const std::stop_token& token_or(const std::stop_token& other) const {
        return has_token_ ? token_ : other;
    }
    [[nodiscard]] detail::Poll poll_or(const detail::Poll& other) const {
        return poll_ ? poll_ : other;
    }

  private:
    std::stop_token token_;
    detail::Poll poll_;
    bool has_token_ = false;
};

namespace detail {

/// Is it what a call takes as its last argument?
template <class T>
inline constexpr bool is_cancellation = std::is_convertible_v<const T&, Cancellation>;

}  // namespace detail

}  // namespace eddy::inline v0
