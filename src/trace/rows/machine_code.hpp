#pragma once
// The arithmetic of a list as x86-64 machine code, made when the program runs: the second engine, with the bits of the
// first, whose functions it calls. Operations on blocks stay with the first, between parts of machine code.
// Test: tests/trace/rows/machine_code.cpp

#include <cstddef>
#include <eddy/trace/rows/row_program.hpp>
#include <memory>
#include <mutex>
#include <vector>

namespace eddy::inline v0::detail {

/// Memory that holds instructions: it is written, then may be executed, never both.
class CodePages {
  public:
    CodePages() = default;
    /// None where the system forbids it.
    CodePages(const unsigned char* code, std::size_t size);
    CodePages(const CodePages&) = delete;
    CodePages& operator=(const CodePages&) = delete;
    ~CodePages();

    [[nodiscard]] const unsigned char* begin() const { return begin_; }

  private:
    unsigned char* begin_ = nullptr;
    std::size_t size_ = 0;
};

/// Parts of a list as functions of its blocks: shared numbers, scratch, arguments, results.
class MachineCode {
  public:
    using Function = void (*)(const void* const* blocks);
    using LoopFunction = void (*)(const void* const* blocks, std::size_t num_turns);
    struct Part {
        int first = 0, last = 0;  // operations [first, last)
        std::size_t at = 0;       // byte
    };

    MachineCode(std::vector<Part> parts, const std::vector<unsigned char>& bytes)
        : parts_(std::move(parts)), pages_(bytes.data(), bytes.size()) {}

    [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
    [[nodiscard]] bool may_run() const { return pages_.begin() != nullptr; }
    [[nodiscard]] Function function(const Part& part) const {
        return reinterpret_cast<Function>(
            reinterpret_cast<std::uintptr_t>(pages_.begin() + part.at));
    }

    /// Of a loop.
    [[nodiscard]] LoopFunction all_turns() const {
        return reinterpret_cast<LoopFunction>(
            reinterpret_cast<std::uintptr_t>(pages_.begin() + parts_[0].at));
    }

  private:
    std::vector<Part> parts_;
    CodePages pages_;
};

/// What the machine code of a list is made for.
struct MachineTarget {
    int width = 1;
    bool is_single = false;
    RowLevel level = RowLevel::plain;
    bool takes_turns = false;  // of a list that is a turn of a loop: all turns

    bool operator==(const MachineTarget&) const = default;
};

/// Null where there is none (has_machine_code), or where the list has nothing that could be it.
[[nodiscard]] std::shared_ptr<const MachineCode> make_machine_code(const ProgramCode& code,
                                                                   const MachineTarget& target);

/// What machine code of a loop does in each turn: the condition, where it has one, then a turn. Results: those of the
/// turn, then the condition's.
[[nodiscard]] ProgramCode join_condition(const LoopOperation& loop);

/// That of a loop, all of whose turns are one function; also null where a turn has operations on blocks. Its blocks:
/// those of the joined list, the state at the start, and rows of lanes. The state's own block is written to. The rows: where
/// not all lanes take all turns, a clock, above zero in the turns that its lane takes, and what it goes on by; where there is
/// a condition, a zero, in whose place comes how many turns a lane took, a one, and whether it would go on.
[[nodiscard]] std::shared_ptr<const MachineCode> make_machine_code(const LoopOperation& loop,
                                                                   const MachineTarget& target);

/// The machine code of one list, shared by all that walk it. Whoever asks first makes it.
class MachineShelf {
  public:
    [[nodiscard]] std::shared_ptr<const MachineCode> get(const ProgramCode& code,
                                                         const MachineTarget& target);
    [[nodiscard]] std::shared_ptr<const MachineCode> get(const LoopOperation& loop,
                                                         MachineTarget target);

  private:
    struct Entry {
        MachineTarget target;
        std::shared_ptr<const MachineCode> code;
    };
    template <class List>
    std::shared_ptr<const MachineCode> find_or_make(const List& of, const MachineTarget& target);

    std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace eddy::inline v0::detail
