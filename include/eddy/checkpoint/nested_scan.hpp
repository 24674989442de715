#pragma once
// A scan as scans of scans, each level made by functions of your own: which scan it is, and how what it
// repeats is checkpointed. (`nested_checkpoint_scan` with `scan_fn` and `checkpoint_fn`, as proposed for
// JAX.) Inputs and outputs stay one a step: they are divided among the levels, and joined again.
// Test: tests/checkpoint/nested_scan.cpp

#include <array>
#include <cstddef>
#include <cstdint>
#include <eddy/ad/cotangent.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/core/error.hpp>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// Divides what there is for each step: at the outermost of `levels`, so many parts.
template <std::size_t levels, std::size_t level = 0, class Iterator>
[[nodiscard]] auto divided(Iterator& next, const std::array<std::int64_t, levels>& lengths) {
    const auto part = [&] {
        if constexpr (level + 1 == levels) {
            return *next++;
        } else {
            return divided<levels, level + 1>(next, lengths);
        }
    };
    std::vector<decltype(part())> parts;
    parts.reserve(static_cast<std::size_t>(lengths[level]));
    for (std::int64_t k = 0; k < lengths[level]; ++k) parts.push_back(part());
    return parts;
}
template <std::size_t levels, class T, class Inserter>
void join_parts(std::vector<T>&& parts, Inserter& next) {
    for (T& part : parts) {
        if constexpr (levels == 1) {
            *next++ = std::move(part);
        } else {
            join_parts<levels - 1>(std::move(part), next);
        }
    }
}
template <std::size_t levels, class T>
[[nodiscard]] auto joined_parts(std::vector<T>&& parts) {
    if constexpr (levels == 1) {
        return std::move(parts);
    } else {
        std::vector<typename decltype(joined_parts<levels - 1>(std::declval<T>()))::value_type> all;
        auto next = std::back_inserter(all);
        join_parts<levels>(std::move(parts), next);
        return all;
    }
}

/// What goes into a scan of scans and what comes out, with a vector of one a step.
template <std::size_t levels>
struct ScanLevels {
    std::array<std::int64_t, levels> lengths;

    template <class Carry, class T>
    [[nodiscard]] auto divide(const std::pair<Carry, std::vector<T>>& value) const {
        std::int64_t steps = 1;
        for (const std::int64_t length : lengths) steps *= length;
        require_argument(std::ssize(value.second) == steps,
                         "nested_scan: {} inputs or output cotangents for lengths whose product is "
                         "{}; give one a step",
                         value.second.size(), steps);
        auto next = value.second.begin();
        return std::pair(value.first, divided<levels>(next, lengths));
    }
    template <class Carry, class T>
    [[nodiscard]] static auto join(std::pair<Carry, std::vector<T>> value) {
        return std::pair(std::move(value.first), joined_parts<levels>(std::move(value.second)));
    }
    template <class First, class... Parameters>
    [[nodiscard]] static auto join(std::tuple<First, Parameters...> cotangents) {
        return std::tuple_cat(std::make_tuple(join(std::move(std::get<0>(cotangents)))),
                              tail(cotangents));
    }
};

template <class Linearization, class Value, std::size_t levels>
struct NestedScanLinearization {
    Linearization whole;
    ScanLevels<levels> shape;
    Value value;

    [[nodiscard]] auto pullback(const Value& cotangent) {
        return shape.join(whole.pullback(shape.divide(cotangent)));
    }
    [[nodiscard]] Value take_value() { return std::move(value); }
};

template <std::size_t levels, class Body, class MakeScan, class Checkpoint>
[[nodiscard]] auto scan_of_scans(Body body, const MakeScan& make_scan,
                                 const Checkpoint& checkpoint) {
    if constexpr (levels == 1) {
        return make_scan(std::move(body));
    } else {
        return make_scan(
            checkpoint(scan_of_scans<levels - 1>(std::move(body), make_scan, checkpoint)));
    }
}

}  // namespace detail

/// The scan of scans; made by `nested_scan`.
template <class Whole, std::size_t levels>
struct NestedScan {
    Whole whole;
    detail::ScanLevels<levels> shape;

    template <class Input, class... Parameters>
    [[nodiscard]] auto operator()(const Input& input, const Parameters&... p) const {
        return shape.join(whole(shape.divide(input), p...));
    }
    template <class Input, class... Parameters>
    [[nodiscard]] auto linearize(const Input& input, const Parameters&... p) const {
        auto linearization = whole.linearize(shape.divide(input), p...);
        auto value = shape.join(detail::take_value(linearization));
        return detail::NestedScanLinearization<decltype(linearization), decltype(value), levels>{
            std::move(linearization), shape, std::move(value)};
    }
    /// For reports: what it is, what it keeps, and its parts.
    template <class Visit>
    void describe(const Visit& visit) const {
        visit("nested scan", "what its levels keep", whole);
    }
};

/// The scan of a Differentiable body `(carry, x) -> (carry, y)` as scans of scans of these lengths, the
/// outermost first. `make_scan(f)` is the scan of f on each level, and `checkpoint(f)` what it repeats
/// there, on all levels but the innermost: remat, remat with a policy or with hooks, or f.
template <std::size_t levels, class Body, class MakeScan, class Checkpoint>
[[nodiscard]] auto nested_scan(Body body, const std::int64_t (&lengths)[levels], MakeScan make_scan,
                               Checkpoint checkpoint) {
    for (const std::int64_t length : lengths)
        require_argument(length > 0, "nested_scan: a length of {}; give at least 1", length);
    auto whole = detail::scan_of_scans<levels>(std::move(body), make_scan, checkpoint);
    return NestedScan<decltype(whole), levels>{std::move(whole), {std::to_array(lengths)}};
}
/// The same by `scan` and `remat`.
template <std::size_t levels, class Body>
[[nodiscard]] auto nested_scan(Body body, const std::int64_t (&lengths)[levels]) {
    return nested_scan(
        std::move(body), lengths, [](auto f) { return scan(std::move(f)); },
        [](auto f) { return remat(std::move(f)); });
}

}  // namespace eddy::inline v0
