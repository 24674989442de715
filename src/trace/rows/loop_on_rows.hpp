#pragma once
// A loop over rows, bound to a width: its turns are runs of one program, for all lanes of the tile at once. Lanes leave by masks:
// one that has left keeps its state, and nothing of what it would compute is seen.

#include <cstddef>
#include <cstdint>
#include <eddy/trace/rows/row_program.hpp>
#include <optional>
#include <vector>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class LoopOnRows {
  public:
    LoopOnRows(const LoopOperation& code, int width, RowLevel level);

    /// `rows`: the places of the program around.
    void run(Real* const* rows);
    [[nodiscard]] std::int64_t num_bytes() const;

  private:
    struct alignas(64) Line {
        Real number[64 / sizeof(Real)];
    };
    void take_all_turns(Real* const* rows);
    void take_while(Real* const* rows);
    void take_some_turns(Real* const* rows);
    void begin(Real* const* rows);
    void point_to(int turn, const Real* state, Real* next);
    void take_turn(int turn);
    void clear(int first, int last);
    [[nodiscard]] bool anyone_takes_part() const;
    [[nodiscard]] std::size_t num_state() const;

    const LoopOperation& code_;
    int width_;
    RowProgramOf<Real> turn_;
    std::optional<RowProgramOf<Real>> condition_;
    std::vector<Line> memory_;
    Real *next_, *mask_, *takes_part_;  // takes_part_: ones and zeros, as masks are
    std::vector<Real*> of_turn_;        // (stack): what one turn stacks
    std::vector<const Real*> operands_;
    std::vector<Real*> to_;
    std::vector<const Real*> blocks_, condition_blocks_;
    std::vector<std::ptrdiff_t> strides_;  // (block): from turn to turn
};

}  // namespace eddy::inline v0::detail
