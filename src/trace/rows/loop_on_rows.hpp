#pragma once
// A loop over rows, bound to a width: its turns are runs of one program, for all lanes of the tile at once. Lanes leave by masks:
// one that has left keeps its state, and nothing of what it would compute is seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/trace/rows/row_program.hpp>
#include <optional>
#include <vector>

#include "machine_code.hpp"
#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

/// The numbers of a list, and in its first rows of scratch those that all lanes have.
template <class Real>
void write_numbers(const ProgramCode& code, int width, Real* shared, Real* scratch) {
    std::transform(code.shared.begin(), code.shared.end(), shared,
                   [](double x) { return static_cast<Real>(x); });
    for (std::size_t k = 0; k < code.spread.size(); ++k)
        std::fill_n(scratch + k * at(width), width, shared[code.spread[k]]);
}

template <class Real>
class LoopOnRows {
  public:
    LoopOnRows(const LoopOperation& code, int width, RowLevel level, MachineCodeUse use);

    /// `rows`: the places of the program around.
    void run(Real* const* rows);
    [[nodiscard]] std::int64_t num_bytes() const;
    [[nodiscard]] bool runs_machine_code() const { return machine_ != nullptr; }

  private:
    struct alignas(64) Line {
        Real number[64 / sizeof(Real)];
    };
    void take_all_turns(Real* const* rows);
    void run_machine_code(Real* const* rows, int num_turns);
    void take_while(Real* const* rows);
    void take_turns_while(Real* const* rows);
    void take_some_turns(Real* const* rows);
    void begin(Real* const* rows);
    void point_to(int turn, const Real* state, Real* next);
    void take_turn(int turn);
    void clear(int first, int last);
    [[nodiscard]] bool anyone_takes_part() const;
    [[nodiscard]] std::size_t num_state() const;

    const LoopOperation& code_;
    int width_;
    std::shared_ptr<const MachineCode> machine_;  // of all turns; or null
    std::optional<RowProgramOf<Real>> turn_, condition_;
    std::vector<Line> memory_;
    Real *next_, *mask_;
    Real *clock_, *step_, *takes_part_;  // rows that follow each other; masks are ones and zeros
    std::vector<Real*> of_turn_;         // (stack): what one turn stacks
    std::vector<const Real*> operands_;
    std::vector<Real*> to_;
    std::vector<const Real*> blocks_, condition_blocks_;
    std::vector<const Real*> machine_blocks_;  // numbers, scratch, and all else that it asks for
    std::vector<std::ptrdiff_t> strides_;      // (block): from turn to turn
};

}  // namespace eddy::inline v0::detail
