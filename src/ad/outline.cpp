#include <eddy/ad/outline.hpp>
#include <eddy/core/message.hpp>
#include <eddy/trace/graphviz.hpp>

namespace eddy::inline v0::detail {
namespace {

class OutlineDrawing {
  public:
    std::string text(const Outline& outline) {
        text_ = "digraph differentiable {\n    node [fontname=\"sans-serif\"];\n";
        draw(outline);
        return std::move(text_) + "}\n";
    }

  private:
    /// Draws a level and returns the number of its block. Its first node says what it keeps; arrows
    /// lead from part to part in the order of evaluation.
    int draw(const Outline& level) {
        const int block = num_blocks_++;
        text_ += compose("subgraph cluster_block{} {{\nlabel={}; style=solid;\n", block,
                         dot_text(level.what));
        const std::string kept = level.kept.empty() ? "" : "keeps " + level.kept;
        text_ += compose("block{} [label={}, shape=plaintext];\n", block, dot_text(kept));
        if (level.program)
            text_ += graphviz_nodes(level.program->graph, {}, compose("block{}_", block));
        int before = block;
        for (const Outline& part : level.parts) {
            const int next = draw(part);
            text_ += compose("block{} -> block{} [style=dashed];\n", before, next);
            before = next;
        }
        text_ += "}\n";
        return block;
    }

    std::string text_;
    int num_blocks_ = 0;
};

}  // namespace

std::string to_graphviz(const Outline& outline) { return OutlineDrawing().text(outline); }

}  // namespace eddy::inline v0::detail
