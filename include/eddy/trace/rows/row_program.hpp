#pragma once
// A list of operations (trace/rows/program_code.hpp), bound to a width and walked: the forwarding
// interpreter. A handler computes one operation for up to eight vectors of lanes and calls the next one
// with its results as arguments, which stay in registers; only what another operation reads is stored.
// There are as many engines as levels of instructions, each compiled once, in the library, and all give
// the bits that programs compiled for their level have.
// Test: tests/trace/rows/row_program.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/trace/rows/program_code.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// Has this processor the vectors of 32 bytes that AVX2 brings?
[[nodiscard]] bool has_vectors_of_32_bytes();
/// Has this processor the vectors of 64 bytes that x86-64-v4 has?
[[nodiscard]] bool has_wide_vectors();
/// Can lists be machine code? Not where this build has no assembler, the processor too few instructions, or the user
/// forbids it (EDDY_MACHINE_CODE=0 in the environment).
[[nodiscard]] bool has_machine_code();

/// What sums over lanes are over: `count` lanes in order, of each of some evaluations that follow each other. The last of
/// these completes the sums.
struct SummedLanes {
    const int* lane = nullptr;
    int count = 0;
    int evaluation = 0, num_evaluations = 1;
};

struct RowInstruction {
    void (*handler)();
    std::uint32_t to, a, b, c;
};
template <class Real>
struct RowEngine;
template <class Real>
struct TableOfRows;
class MachineCode;
template <class Real>
class LoopOnRows;

}  // namespace detail

/// Whether the arithmetic of a program is made machine code, where the library can make it: it gives the same bits.
enum class MachineCodeUse : unsigned char { where_possible, never };

/// A program over tiles of 1, 8, 16, 32 or 64 lanes, of float or double. It owns its scratch, so that each worker has
/// its own.
template <class Real>
class EDDY_EXPORT RowProgramOf {
  public:
    RowProgramOf(std::shared_ptr<const ProgramCode> code, int width, RowLevel level,
                 MachineCodeUse use = MachineCodeUse::where_possible);
    RowProgramOf(const RowProgramOf&) = delete;
    RowProgramOf& operator=(const RowProgramOf&) = delete;
    ~RowProgramOf();

    /// blocks: the arguments, then the results, (row, lane) each, or numbers where all lanes share them. Results
    /// overlap nothing. Allocates nothing but room for the evaluations of sums, when there are more than ever before.
    void run(const Real* const* blocks, const detail::SummedLanes& sums = {});
    /// Of its scratch and its list.
    [[nodiscard]] std::int64_t num_bytes() const;
    /// Is any of it machine code, of its own or of its loops?
    [[nodiscard]] bool runs_machine_code() const;

  private:
    struct alignas(64) Line {
        Real number[64 / sizeof(Real)];
    };
    void point_to(int first, int count, const Real* block, int step);
    void run_block(const BlockOperation& block, const detail::SummedLanes& sums, Real* room);
    Real* reserve_room(int num_lanes);
    [[nodiscard]] detail::TableOfRows<Real> table_of(const BlockOperation& block) const;
    void walk(std::size_t first);
    void point_to_blocks(const Real* const* blocks);
    void bind_list();

    std::shared_ptr<const ProgramCode> code_;
    int width_;
    const detail::RowEngine<Real>* engine_;
    const detail::RowEngine<Real>*
        wide_;  // what this processor's wider vectors do in its place; or null
    /// A part of the list that is walked, which ends by itself, one of machine code, or an operation on blocks.
    struct Step {
        enum class Kind : unsigned char { walk, machine_code, block } kind;
        std::size_t which;  // place in the list; of the part; of the operation
    };
    std::shared_ptr<const detail::MachineCode> machine_;
    void (*only_)(const void* const* blocks) =
        nullptr;  // the list, where it is one part of machine code
    std::vector<detail::RowInstruction> list_;
    std::vector<Step> steps_;
    std::vector<Real> memory_;         // scratch
    std::vector<Line> room_;           // of sums of outer products, one after the other
    std::vector<Real*> rows_;          // (place)
    std::vector<const Real*> blocks_;  // shared numbers, scratch, arguments and results
    std::vector<std::unique_ptr<detail::LoopOnRows<Real>>> loops_;
};
/// The same in double.
using RowProgram = RowProgramOf<double>;

}  // namespace eddy::inline v0
