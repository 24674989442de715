#pragma once
// Remat policies: which values of the forward program may be kept for the backward one. Named as in
// JAX (jax.checkpoint_policies). A policy is an empty type that answers a Candidate with a Saving;
// a captureless lambda will do. Only values that the backward program needs are ever kept; the rest
// is recomputed from what is.

#include <algorithm>
#include <eddy/trace/graph.hpp>

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
struct SaveOnlyTheseNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(TheNames::tag(value));
    }
};
template <class TheNames>
struct SaveAnythingExceptTheseNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(!TheNames::tag(value));
    }
};
template <class TheNames>
struct SaveAnyNamesButThese {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return save_if(value.num_names > 0 && !TheNames::tag(value));
    }
};
template <class First, class Second>
struct SaveFromBothPolicies {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        const eddy::Saving first = First{}(value);
        return first != eddy::Saving::recompute ? first : Second{}(value);
    }
};
template <class Saved, class Offloaded>
struct SaveAndOffloadOnlyTheseNames {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        return Offloaded::tag(value) ? eddy::Saving::offload : save_if(Saved::tag(value));
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
/// Keeps the results of products with weights that are arguments.
inline constexpr detail::DotsWithNoBatchDimsSaveable dots_with_no_batch_dims_saveable;
/// A policy that keeps only values with one of these names: `save_only_these_names<"a", "b">`.
template <FixedString... name>
inline constexpr detail::SaveOnlyTheseNames<Names<name...>> save_only_these_names;
/// Keeps all values, named or not, but those with one of these names.
template <FixedString... name>
inline constexpr detail::SaveAnythingExceptTheseNames<Names<name...>>
    save_anything_except_these_names;
/// Keeps named values only, but not those with one of these names.
template <FixedString... name>
inline constexpr detail::SaveAnyNamesButThese<Names<name...>> save_any_names_but_these;
/// Keeps the first list on the spot and marks the second for offload:
/// save_and_offload_only_these_names<Names<"a">, Names<"b">>.
template <class Saved, class Offloaded>
inline constexpr detail::SaveAndOffloadOnlyTheseNames<Saved, Offloaded>
    save_and_offload_only_these_names;
/// Marks the results of products with weights that are arguments for offload.
inline constexpr detail::OffloadDotWithNoBatchDims offload_dot_with_no_batch_dims;
/// Keeps what either policy keeps.
template <class First, class Second>
[[nodiscard]] constexpr auto save_from_both_policies(First, Second) {
    return detail::SaveFromBothPolicies<First, Second>{};
}

}  // namespace eddy::inline v0
