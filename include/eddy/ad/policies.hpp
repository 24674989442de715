#pragma once
// Remat policies: which values of the forward program may be kept for the backward one. Named as in
// JAX (jax.checkpoint_policies). A policy answers a Candidate with a Saving; a captureless lambda
// will do. Where a program is made at compile time, a policy with values is a template argument;
// at run time it is an argument like any other. Only values that the backward program needs are
// ever kept; the rest is recomputed from what is.
// Test: tests/ad/policies.cpp

#include <algorithm>
#include <eddy/core/list.hpp>
#include <eddy/trace/graph.hpp>
#include <string>
#include <type_traits>

namespace eddy::inline v0 {

/// A string as a template argument.
template <std::size_t length>
struct FixedString {
    char text[length]{};
    constexpr FixedString(const char (&literal)[length]) { std::copy_n(literal, length, text); }
    [[nodiscard]] constexpr operator std::string_view() const { return {text, length - 1}; }
};

/// A list of names, given to `checkpoint_name(x, "name")`.
template <FixedString... name>
struct Names {
    [[nodiscard]] static constexpr bool tag(const Candidate& value) {
        return (value.has_name(name) || ...);
    }
};

namespace detail {

/// Names that are known at run time.
struct ListOfNames {
    List<std::string> names;
    [[nodiscard]] bool tag(const Candidate& value) const {
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& name) { return value.has_name(name); });
    }
};

/// A policy that is known by its type.
template <class Policy>
inline constexpr bool is_known_by_type =
    std::is_empty_v<Policy>&& std::is_default_constructible_v<Policy>;

template <class Policy>
constexpr eddy::Saving ask(const Candidate& value) {
    return Policy{}(value);
}

/// A policy with values as one that is known by its type.
template <auto policy>
struct PolicyValue {
    constexpr eddy::Saving operator()(const Candidate& value) const { return policy(value); }
};

/// Gives a region its policy. One with values needs a graph that is made at run time.
template <class Policy>
constexpr void set_policy(Graph& graph, int region, const Policy& policy) {
    Region& changed = graph.regions[static_cast<std::size_t>(region)];
    changed.kept_policy = -1;
    if constexpr (is_known_by_type<Policy>) {
        changed.policy = &ask<Policy>;
    } else if constexpr (std::is_convertible_v<const Policy&, PolicyFunction>) {
        changed.policy = policy;
    } else if (std::is_constant_evaluated()) {
        graph.error = TraceError::policy_with_values;
    } else {
        changed.kept_policy = graph.run_time.keep_policy(policy);
    }
}

[[nodiscard]] constexpr eddy::Saving save_if(bool condition) {
    return condition ? eddy::Saving::save : eddy::Saving::recompute;
}

[[nodiscard]] constexpr bool is_dot(const Candidate& value) {
    return value.op == Op::dot || value.op == Op::dense || value.op == Op::dense_transposed ||
           value.op == Op::outer;
}
/// The lanes are the only batch of a product with weights that are an argument: as a matrix product
/// over all lanes, it has no batch dimension. A product of two computed values has one: its
/// matrices differ from lane to lane.
[[nodiscard]] constexpr bool is_dot_without_batch(const Candidate& value) {
    return is_dot(value) && value.weights_are_arguments;
}

struct EverythingSaveable {
    constexpr eddy::Saving operator()(const Candidate&) const { return eddy::Saving::save; }
};
struct NothingSaveable {
    constexpr eddy::Saving operator()(const Candidate&) const { return eddy::Saving::recompute; }
};
struct DotsSaveable {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(is_dot(value));
    }
};
struct DotsWithNoBatchDimsSaveable {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(is_dot_without_batch(value));
    }
};
template <class TheNames>
struct SaveOnlyTheseNames : TheNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(this->tag(value));
    }
    /// The same of names that are known at run time.
    [[nodiscard]] SaveOnlyTheseNames<ListOfNames> operator()(List<std::string> names) const {
        return {{std::move(names)}};
    }
};
template <class TheNames>
struct SaveAnythingExceptTheseNames : TheNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(!this->tag(value));
    }
    /// The same of names that are known at run time.
    [[nodiscard]] SaveAnythingExceptTheseNames<ListOfNames> operator()(
        List<std::string> names) const {
        return {{std::move(names)}};
    }
};
template <class TheNames>
struct SaveAnyNamesButThese : TheNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(value.num_names > 0 && !this->tag(value));
    }
    /// The same of names that are known at run time.
    [[nodiscard]] SaveAnyNamesButThese<ListOfNames> operator()(List<std::string> names) const {
        return {{std::move(names)}};
    }
};
template <class First, class Second>
struct SaveFromBothPolicies {
    [[no_unique_address]] First first;
    [[no_unique_address]] Second second;
    constexpr eddy::Saving operator()(const Candidate& value) const {
        const eddy::Saving decided = first(value);
        return decided != eddy::Saving::recompute ? decided : second(value);
    }
};
template <class Saved, class Offloaded>
struct SaveAndOffloadOnlyTheseNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return Offloaded::tag(value) ? eddy::Saving::offload : save_if(Saved::tag(value));
    }
};
template <class TheNames>
struct OffloadTheseNames : TheNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return this->tag(value) ? eddy::Saving::offload : eddy::Saving::recompute;
    }
};
struct OffloadDotWithNoBatchDims {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return is_dot_without_batch(value) ? eddy::Saving::offload : eddy::Saving::recompute;
    }
};

}  // namespace detail

/// Keeps whatever the backward program needs: as without remat.
inline constexpr detail::EverythingSaveable everything_saveable;
/// A policy that keeps only arguments.
inline constexpr detail::NothingSaveable nothing_saveable;
/// Keeps the results of products: dot, dense and their transposes.
inline constexpr detail::DotsSaveable dots_saveable;
/// The same, as JAX also calls it.
inline constexpr detail::DotsSaveable checkpoint_dots;
/// Keeps the results of products with weights that are arguments.
inline constexpr detail::DotsWithNoBatchDimsSaveable dots_with_no_batch_dims_saveable;
/// The same, as JAX also calls it.
inline constexpr detail::DotsWithNoBatchDimsSaveable checkpoint_dots_with_no_batch_dims;
/// A policy that keeps only values with one of these names: `save_only_these_names<"a", "b">`; at run
/// time `save_only_these_names<>({"a", "b"})`, as for the two below.
template <FixedString... name>
inline constexpr detail::SaveOnlyTheseNames<Names<name...>> save_only_these_names;
/// Keeps all values, named or not, but those with one of these names.
template <FixedString... name>
inline constexpr detail::SaveAnythingExceptTheseNames<Names<name...>>
    save_anything_except_these_names;
/// The same, as JAX spells it.
template <FixedString... name>
inline constexpr detail::SaveAnythingExceptTheseNames<Names<name...>> save_anything_but_these_names;
/// Keeps named values only, but not those with one of these names.
template <FixedString... name>
inline constexpr detail::SaveAnyNamesButThese<Names<name...>> save_any_names_but_these;
/// Keeps the first list on the spot and marks the second for offload:
/// save_and_offload_only_these_names<Names<"a">, Names<"b">>.
template <class Saved, class Offloaded>
inline constexpr detail::SaveAndOffloadOnlyTheseNames<Saved, Offloaded>
    save_and_offload_only_these_names;
/// Marks values with one of these names for offload, `offload<"a", "b">()`, and keeps no other.
template <FixedString... name>
[[nodiscard]] constexpr detail::OffloadTheseNames<Names<name...>> offload() {
    return {};
}
/// The same of names that are known at run time: `offload("a", "b")`.
template <class... Name>
requires(sizeof...(Name) > 0 && (std::is_convertible_v<const Name&, std::string> && ...))
    [[nodiscard]] detail::OffloadTheseNames<detail::ListOfNames> offload(const Name&... name) {
    return {{{std::string(name)...}}};
}
/// Marks the results of products with weights that are arguments for offload.
inline constexpr detail::OffloadDotWithNoBatchDims offload_dot_with_no_batch_dims;
/// Keeps what either policy keeps.
template <class First, class Second>
[[nodiscard]] constexpr auto save_from_both_policies(First first, Second second) {
    return detail::SaveFromBothPolicies<First, Second>{std::move(first), std::move(second)};
}

}  // namespace eddy::inline v0
