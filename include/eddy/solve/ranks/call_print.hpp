#pragma once
// What ranks that share a call compare before they work: whether they have been asked the same.
// Test: tests/solve/processes.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/sde_graph.hpp>
#include <eddy/trace/field.hpp>
#include <string_view>

namespace eddy::inline v0::detail {

/// Takes in numbers and texts one after another (FNV-1a).
class Fingerprint {
  public:
    constexpr void add(std::uint64_t number) {
        for (int byte = 0; byte < 8; ++byte, number >>= 8)
            value_ = (value_ ^ (number & 0xff)) * 0x100000001b3u;
    }
    constexpr void add(std::string_view text) {
        for (const char letter : text)
            value_ = (value_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    }
    EDDY_EXPORT void add(double number);
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// The print of all options on which numbers depend.
[[nodiscard]] EDDY_EXPORT std::uint64_t print_of(const SolveOptions& options);

[[nodiscard]] EDDY_EXPORT std::uint64_t print_of_version();

/// The print of the types of a call, and of what the functions of its equation are.
template <class... Types>
[[nodiscard]] std::uint64_t print_of_types() {
    Fingerprint print;
    print.add(std::string_view(__PRETTY_FUNCTION__));
    return print.value();
}
template <class Graph>
void add_graph(Fingerprint& print, const Graph& graph) {
    for (int i = 0; i < graph.sizes.nodes; ++i) {
        const auto& node = graph.nodes[i];
        print.add(static_cast<std::uint64_t>(node.op));
        // One by one: nvcc 13.0 writes a loop over a list here that the host's compiler does not take.
        print.add(static_cast<std::uint64_t>(node.size));
        print.add(static_cast<std::uint64_t>(node.first));
        print.add(static_cast<std::uint64_t>(node.count));
        print.add(static_cast<std::uint64_t>(node.index));
        print.add(static_cast<std::uint64_t>(node.offset));
    }
    for (int i = 0; i < graph.sizes.operands; ++i)
        print.add(static_cast<std::uint64_t>(graph.operands[i]));
    for (int i = 0; i < graph.sizes.constants; ++i) print.add(graph.constants[i]);
}
[[nodiscard]] constexpr std::uint64_t print_of_text(std::string_view text) {
    Fingerprint print;
    print.add(text);
    return print.value();
}
/// What f is, of an equation dy/dt = f; two texts may have one name.
template <class Field>
[[nodiscard]] std::uint64_t print_of_equation() {
    Fingerprint print;
    if constexpr (!StochasticField<Field> && !KineticField<Field>)
        add_graph(print, FieldProgram<Field>::graph);
    return print.value();
}

}  // namespace eddy::inline v0::detail
