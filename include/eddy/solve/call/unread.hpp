#pragma once
// Parameters that nothing reads, so that no loss depends on them: neither the equation, nor the start, nor the loss
// itself. What programs read the compiler knows; what trajectories select from a table a call does.
// Test: tests/solve/unread.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/sde_graph.hpp>
#include <eddy/trace/field.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0::detail {

/// A program, and which of its arguments are the parameters.
template <class Program, int argument>
struct Reader {
    template <int size>
    static constexpr void mark(bool (&is_read)[size]) {
        constexpr auto& graph = Program::graph;
        for (int k = 0; k < graph.sizes.nodes; ++k) {
            const Node& node = graph.nodes[k];
            if (node.op != Op::argument || node.index != argument) continue;
            // What a program is given behind the parameters is none of them.
            for (int i = node.offset; i < node.offset + node.size && i < size; ++i)
                is_read[i] = true;
        }
    }
};

/// The components that none of the programs reads, in order.
template <int size, class... Readers>
struct UnreadComponents {
    static constexpr int count = [] {
        bool is_read[size + 1]{};
        (Readers::mark(is_read), ...);
        int found = 0;
        for (int i = 0; i < size; ++i) found += is_read[i] ? 0 : 1;
        return found;
    }();
    struct List {
        int of[count + 1]{};
    };
    static constexpr List list = [] {
        bool is_read[size + 1]{};
        (Readers::mark(is_read), ...);
        List found{};
        int k = 0;
        for (int i = 0; i < size; ++i) {
            if (!is_read[i]) found.of[k++] = i;
        }
        return found;
    }();
    [[nodiscard]] static std::span<const int> components() {
        return std::span<const int>(list.of).first(count);
    }
};

/// Says which parameters, each component of all trajectories, and of a table which entries. `components` ascend; `is_used` is
/// memory for a flag for each entry.
template <class Real>
EDDY_EXPORT void list_unread(std::vector<UnreadParameter>& unread, std::span<const int> components,
                             const ParameterTable<Real>* table, std::ptrdiff_t num_lanes,
                             int num_parameters, std::vector<char>& is_used);

/// Says in a report which parameters neither the equation nor the loss nor `MoreReaders` read. Of noise and events it is
/// not asked what they read.
template <class Field, class Objective, class... MoreReaders, class Parameters>
void tell_unread(GradientReport& report, const Parameters& p, std::vector<char>& is_used) {
    report.unread.clear();
    if constexpr (!StochasticField<Field> && !KineticField<Field> && !has_event<Field>) {
        using Unread = UnreadComponents<Field::parameter_size, Reader<FieldProgram<Field>, 2>,
                                        Reader<typename Objective::Program, 2>, MoreReaders...>;
        list_unread(report.unread, Unread::components(), table_of(p), report.num_lanes(),
                    Field::parameter_size, is_used);
    }
}

}  // namespace eddy::inline v0::detail
