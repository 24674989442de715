#pragma once
// The order of all lanes of a call in the next one: the longest first, by their attempts, so that those that step
// together are alike. Who sorts is the runtime, in the stream, without memory of its own: a graph may capture it. Rows
// are sorted, so that ties stay as they are.
// Test: tests/solve/sorted_lanes.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/runtime.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/call/mirrors.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/rows.hpp>

namespace eddy::inline v0::detail {

/// What is sorted, row by row: null outcomes are alike.
struct OrderKeys {
    static constexpr std::int64_t most = (std::int64_t{1} << sorted_bits) - 1;

    const LaneOutcome* outcomes;  // (row)
    std::uint32_t* keys;          // (row)
    std::ptrdiff_t* rows;         // (row)

    EDDY_HD void operator()(std::ptrdiff_t row) const {
        rows[row] = row;
        if (outcomes)
            keys[row] = static_cast<std::uint32_t>(
                eddy::min(most, outcomes[row].accepted + outcomes[row].rejected));
    }
};

/// May any lane of a launch be in any group? Paths, events, kept steps and sums over lanes know them by their numbers.
template <class Kernel>
[[nodiscard]] bool may_order_all(const Kernel& kernel) {
    using Spec = typename Kernel::Spec;
    bool keeps_steps = false;
    if constexpr (!is_gradient<Kernel>) keeps_steps = kernel.steps.is_wanted();
    return !Spec::has_constant_size && !Spec::has_noise && !Spec::has_event &&
           !(is_gradient<Kernel> && Spec::shares_parameters) && !keeps_steps &&
           !kernel.problem.prescribed && kernel.problem.rows.are_a_range();
}

template <class Runtime>
class EnsembleOrder {
    using Stream = typename Runtime::Stream;

  public:
    EnsembleOrder(void* memory, std::ptrdiff_t num_lanes) : num_lanes_(num_lanes) {
        auto* const first = static_cast<std::byte*>(memory);
        const auto column = [&](std::size_t k) -> void* {
            return first + k * column_bytes(num_lanes);
        };
        order_ = static_cast<std::ptrdiff_t*>(column(0));
        sorts_ = {static_cast<std::uint32_t*>(column(1)),
                  static_cast<std::uint32_t*>(column(2)),
                  static_cast<std::ptrdiff_t*>(column(3)),
                  order_,
                  num_lanes,
                  column(4),
                  0};
    }
    [[nodiscard]] static std::size_t num_bytes(std::ptrdiff_t num_lanes) {
        return 4 * column_bytes(num_lanes) + bytes_to_sort(num_lanes);
    }

    /// The rows of the lanes: in their order, where there is no other one yet.
    [[nodiscard]] Rows rows(bool has_one, Stream stream) const {
        if (!has_one)
            require_done<Runtime>(
                Runtime::for_each(num_lanes_, OrderKeys{nullptr, nullptr, order_}, stream),
                "numbering rows");
        return {0, 1, order_};
    }
    /// The next rows are in the order of what became of these. What follows the groups knows lanes by their rows.
    template <class Kernel, class Memory>
    void follow(Kernel& kernel, const Mirrors<Memory>& mirrors, Stream stream) {
        mirrors.put_back(kernel.outcomes);
        if constexpr (Kernel::kind == KernelKind::gradient)
            kernel.seeds.loss_stride = mirrors.put_back(kernel.seeds.loss);
        const OrderKeys of_rows{kernel.outcomes, sorts_.keys, sorts_.values};
        require_done<Runtime>(Runtime::for_each(num_lanes_, of_rows, stream), "counting attempts");
        sorts_.scratch_bytes = bytes_to_sort(num_lanes_);
        require_done<Runtime>(Runtime::sort_descending(sorts_, stream), "sorting rows");
    }

  private:
    [[nodiscard]] static std::size_t column_bytes(std::ptrdiff_t num_lanes) {
        return in_whole_lines(static_cast<std::size_t>(num_lanes) * sizeof(std::ptrdiff_t));
    }
    [[nodiscard]] static std::size_t bytes_to_sort(std::ptrdiff_t num_lanes) {
        std::size_t bytes = 0;
        require_done<Runtime>(Runtime::bytes_to_sort(num_lanes, bytes), "asking what a sort takes");
        return bytes;
    }

    std::ptrdiff_t num_lanes_;
    std::ptrdiff_t* order_ = nullptr;  // (lane)
    SortedNumbers sorts_;
};

}  // namespace eddy::inline v0::detail
