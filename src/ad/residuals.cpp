#include <algorithm>
#include <eddy/ad/residuals.hpp>
#include <iostream>
#include <map>
#include <sstream>

#include "../trace/node_text.hpp"

namespace eddy::inline v0::detail {
namespace {

SplitGraph split(const Graph& graph, const ResidualReportOptions& options) {
    const int num_arguments = static_cast<int>(graph.arguments.size());
    List<char> flags(graph.arguments.size(), options.with_respect_to.empty());
    for (int argument : options.with_respect_to) {
        require_argument(argument >= 0 && argument < num_arguments,
                         "saved_residuals: there is no argument {} to differentiate; the program "
                         "has {}, counted from 0",
                         argument, num_arguments);
        flags[static_cast<std::size_t>(argument)] = 1;
    }
    return split_graph(graph, flags);
}

std::string shape(int size, bool is_scalar, int bytes_per_number) {
    const std::string type = bytes_per_number == 4 ? "float" : "double";
    return is_scalar ? type : compose("{}[{}]", type, size);
}

/// One line: shape, bytes, and what it is.
struct Line {
    std::string shape, bytes, what;
};

/// Components [begin, end) of argument `index`.
struct Part {
    int index, begin, end;
};

/// The parts of arguments that a program reads, overlapping and adjoining ones merged.
std::vector<Part> parts_read(const Graph& program, std::size_t num_arguments) {
    std::vector<Part> parts;
    for (const Node& node : program.nodes) {
        if (node.op == Op::argument && static_cast<std::size_t>(node.index) < num_arguments)
            parts.push_back({node.index, node.offset, node.offset + node.size});
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return a.index != b.index ? a.index < b.index : a.begin < b.begin;
    });
    std::vector<Part> merged;
    for (const Part& part : parts) {
        if (!merged.empty() && merged.back().index == part.index && merged.back().end >= part.begin)
            merged.back().end = std::max(merged.back().end, part.end);
        else
            merged.push_back(part);
    }
    return merged;
}

/// (node): itself where a call made it whose place is known, else the latest such node that its value
/// depends on: operators know no place. −1: none.
std::vector<int> nodes_with_places(const Graph& graph) {
    std::vector<int> placed;
    for (int i = 0; i < graph.size(); ++i) {
        int latest = -1;
        const Node& node = graph[i];
        for (int k = node.op == Op::stacked ? 1 : 0; k < node.count; ++k)
            latest = std::max(latest, placed[static_cast<std::size_t>(graph.operand(node, k))]);
        placed.push_back(graph.place_of(i).line > 0 ? i : latest);
    }
    return placed;
}

/// Where a residual comes from, as far as it is known.
struct Origin {
    SourcePlace place{};
    bool is_behind = false;  // of a value that it depends on
};

std::string origin(const Residual& residual, bool with_places, const Origin& from) {
    std::string text;
    bool is_told = from.place.line == 0;
    for (std::size_t k = 0; k < residual.names.size(); ++k) {
        text += compose("'{}'", residual.names[k]);
        if (with_places && k < residual.places.size() && residual.places[k].line > 0) {
            text += " from " + place_text(residual.places[k]);
            is_told = is_told || residual.places[k] == from.place;
        }
        text += ", ";
    }
    const ResidualTurns& turns = residual.turns;
    if (turns.loop >= 0 && turns.op == Op::carry)
        text += "state at the start of a turn";
    else
        text.append("output of ").append(name(turns.loop < 0 ? residual.node.op : turns.op));
    if (with_places && !is_told)
        text += (from.is_behind ? " behind " : " from ") + place_text(from.place);
    return residual.saving == Saving::offload ? text + ", to be offloaded" : text;
}

class Report {
  public:
    Report(const Graph& graph, const SplitGraph& split, int bytes_per_number,
           const ResidualReportOptions& options)
        : graph_(graph), split_(split), bytes_(bytes_per_number), options_(options) {
        if (options.places && split.residual_size > 0) find_origins();
    }

    [[nodiscard]] std::string text() const {
        std::vector<Line> read;
        for (const Part& part : parts_read(split_.backward, graph_.arguments.size()))
            read.push_back(argument(part));
        for (const Node& node : split_.backward.nodes) {
            if (node.op == Op::constant && node.size > 1)
                read.push_back(line(node.size, false, "constant of the program"));
        }
        std::ostringstream out;
        out << "kept between forward and backward pass, per trajectory: " << total() << "\n";
        write(out, kept_of(-1));
        std::map<int, int> turns;  // (loop)
        for (const Residual& residual : split_.residuals) {
            if (residual.turns.loop >= 0) turns[residual.turns.loop] = residual.turns.count;
        }
        for (const auto& [loop, count] : turns) {
            out << compose("  loop, for each of {} turns\n", count);
            write(out, kept_of(loop), "  | ");
        }
        out << (read.empty() ? "" : "read again where it is\n");
        write(out, read);
        return out.str();
    }

  private:
    /// The forward program returns the residuals last.
    void find_origins() {
        const Graph& forward = split_.forward;
        const std::vector<int> placed = nodes_with_places(forward);
        for (std::size_t k = 0; k < split_.residuals.size(); ++k) {
            const int node = forward.output_node(forward.outputs.back(), static_cast<int>(k)),
                      from = placed[static_cast<std::size_t>(node)];
            origins_[k] = {from < 0 ? SourcePlace{} : forward.place_of(from), from != node};
        }
    }
    /// The residuals of a loop; −1: of none.
    [[nodiscard]] std::vector<Line> kept_of(int loop) const {
        std::vector<Line> lines;
        for (std::size_t k = 0; k < split_.residuals.size(); ++k) {
            const Residual& residual = split_.residuals[k];
            if (residual.turns.loop != loop) continue;
            const int turns = loop < 0 ? 1 : residual.turns.count,
                      size = residual.node.size / turns;
            lines.push_back(line(size, size == 1, origin(residual, options_.places, origins_[k])));
        }
        return lines;
    }
    [[nodiscard]] Line line(int size, bool is_scalar, const std::string& what) const {
        return {shape(size, is_scalar, bytes_), compose("{} bytes", size * bytes_), what};
    }
    [[nodiscard]] Line argument(const Part& part) const {
        const Argument& whole = graph_.arguments[static_cast<std::size_t>(part.index)];
        const int size = part.end - part.begin;
        std::string what = "argument " + argument_name(options_.names, part.index);
        if (!whole.is_scalar && size != whole.size) what += range_text(part.begin, size);
        return line(size, size == 1, what);
    }
    [[nodiscard]] std::string total() const {
        int num_offloaded = 0;
        for (const Residual& residual : split_.residuals)
            num_offloaded += residual.saving == Saving::offload ? residual.node.size : 0;
        const int num_bytes = split_.residual_size * bytes_;
        return num_offloaded > 0 ? compose("{} bytes, {} of them to be offloaded", num_bytes,
                                           num_offloaded * bytes_)
                                 : compose("{} bytes", num_bytes);
    }
    static void write(std::ostream& out, const std::vector<Line>& lines,
                      const char* indent = "  ") {
        std::size_t shape_width = 0, bytes_width = 0;
        for (const Line& line : lines) {
            shape_width = std::max(shape_width, line.shape.size());
            bytes_width = std::max(bytes_width, line.bytes.size());
        }
        for (const Line& line : lines) {
            out << indent << line.shape << std::string(shape_width - line.shape.size() + 2, ' ')
                << std::string(bytes_width - line.bytes.size(), ' ') << line.bytes << "  "
                << line.what << "\n";
        }
    }

    const Graph& graph_;
    const SplitGraph& split_;
    int bytes_;
    const ResidualReportOptions& options_;
    std::vector<Origin> origins_ = std::vector<Origin>(split_.residuals.size());
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// The width of a line on a terminal, where not every byte is a character.
std::size_t width(const std::string& line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string in_columns(const std::vector<std::string>& left,
                       const std::vector<std::string>& right) {
    std::size_t left_width = 0;
    for (const std::string& line : left) left_width = std::max(left_width, width(line));
    std::string text;
    for (std::size_t k = 0; k < std::max(left.size(), right.size()); ++k) {
        const std::string first = k < left.size() ? left[k] : "";
        text += first;
        if (k < right.size())
            text += std::string(left_width - width(first), ' ') + " | " + right[k];
        text += '\n';
    }
    return text;
}

}  // namespace

std::string saved_residuals(const Graph& graph, int bytes_per_number,
                            const ResidualReportOptions& options) {
    const SplitGraph halves = split(graph, options);
    return Report(graph, halves, bytes_per_number, options).text();
}

std::string forward_backward(const Graph& graph, const ResidualReportOptions& options) {
    const SplitGraph halves = split(graph, options);
    ArgumentNames names;
    for (std::size_t a = 0; a < graph.arguments.size(); ++a)
        names.push_back(argument_name(options.names, static_cast<int>(a)));
    std::vector<std::string> forward = lines_of(to_text(halves.forward, names, options.places));
    names.push_back("residuals");
    for (std::size_t o = 0; o < graph.outputs.size(); ++o)
        names.push_back(graph.outputs.size() == 1 ? "cotangent" : compose("cotangent{}", o));
    std::vector<std::string> backward = lines_of(to_text(halves.backward, names, options.places));
    forward[0] = "forward: " + forward[0];
    backward[0] = "backward: " + backward[0];
    return in_columns(forward, backward);
}

namespace {

/// The blocks of a Differentiable: a line that says what a level is and keeps, then its parts, or what
/// `of_program` says, indented.
template <class OfProgram>
void write_blocks(std::string& text, const Outline& level, const std::string& indent,
                  const OfProgram& of_program) {
    text += indent + level.what + (level.kept.empty() ? "" : ", which keeps " + level.kept) + "\n";
    if (level.program) {
        for (const std::string& line : lines_of(of_program(*level.program)))
            text += indent + "  " + line + "\n";
    }
    for (const Outline& part : level.parts) write_blocks(text, part, indent + "  ", of_program);
}
template <class OfProgram>
std::string blocks(const Outline& outline, const ResidualReportOptions& options,
                   const OfProgram& of_program) {
    const auto one = [&](const OutlinedProgram& program) {
        ResidualReportOptions own = options;
        if (!program.with_respect_to.empty()) own.with_respect_to = program.with_respect_to;
        return of_program(program.graph, own);
    };
    if (outline.program) return one(*outline.program);
    std::string text;
    write_blocks(text, outline, "", one);
    return text;
}

}  // namespace

std::string saved_residuals(const Outline& outline, int bytes_per_number,
                            const ResidualReportOptions& options) {
    return blocks(outline, options, [&](const Graph& graph, const ResidualReportOptions& own) {
        return saved_residuals(graph, bytes_per_number, own);
    });
}
std::string forward_backward(const Outline& outline, const ResidualReportOptions& options) {
    return blocks(outline, options, [](const Graph& graph, const ResidualReportOptions& own) {
        return forward_backward(graph, own);
    });
}

void write(const std::string& text, const ResidualReportOptions& options) {
    (options.out != nullptr ? *options.out : std::cout) << text << std::flush;
}

}  // namespace eddy::inline v0::detail
