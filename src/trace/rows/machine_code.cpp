// From a list to instructions: its parts, or where it is a turn of a loop all turns.

#include "machine_code.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <eddy/trace/rows/row_program.hpp>
#include <string_view>

#ifdef EDDY_ASSEMBLER
#include <sys/mman.h>

#include "turn_writer.hpp"
#endif

namespace eddy::inline v0::detail {

#ifdef EDDY_ASSEMBLER
namespace {

/// Runs of operations, none across an operation on blocks; where functions are not called, of instructions alone.
std::vector<MachineCode::Part> find_parts(const ProgramCode& code, RowLevel level, bool calls) {
    std::vector<MachineCode::Part> parts;
    std::size_t block = 0;
    bool goes_on = false;
    const auto size = static_cast<int>(code.operations.size());
    for (int s = 0; s < size; ++s) {
        for (; block < code.blocks.size() && code.blocks[block].before <= s; ++block)
            goes_on = false;
        if (!calls && !is_machine_op(code.operations[at(s)].op, level)) {
            goes_on = false;
            continue;
        }
        if (!goes_on) parts.push_back({s, s, 0});
        parts.back().last = s + 1;
        goes_on = true;
    }
    return parts;
}

bool is_allowed() {
    static const bool allowed = [] {
        const char* const word = std::getenv("EDDY_MACHINE_CODE");
        return word == nullptr || std::string_view(word) != "0";
    }();
    return allowed;
}

}  // namespace

CodePages::CodePages(const unsigned char* code, std::size_t size) : size_(size) {
    void* const pages =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    std::memcpy(pages, code, size);
    if (mprotect(pages, size, PROT_READ | PROT_EXEC) == 0)
        begin_ = static_cast<unsigned char*>(pages);
    else
        munmap(pages, size);
}
CodePages::~CodePages() {
    if (begin_ != nullptr) munmap(begin_, size_);
}

bool has_machine_code() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && is_allowed();
}

namespace {

/// Do rows take so much that a vector of each in turn meets few sets of the cache?
bool are_many(const ProgramCode& code, const MachineTarget& target) {
    return std::int64_t{target.width} * (target.is_single ? 4 : 8) * code.num_rows() > 64 << 10;
}
std::size_t count_calls(const ProgramCode& code, RowLevel level) {
    return static_cast<std::size_t>(std::count_if(
        code.operations.begin(), code.operations.end(),
        [&](const RowOperation& operation) { return !is_machine_op(operation.op, level); }));
}
/// An operation writes up to four instructions of values, and a load and a store for each register that it takes; a call
/// stores all registers.
std::size_t most_bytes(const ProgramCode& code, RowLevel level) {
    return 4096 + 320 * code.operations.size() + 640 * count_calls(code, level);
}
/// The widest rows of which functions are called a value at a time, where all lanes take all turns, and where they leave: of
/// wider ones one call for all of a row takes no more, for what its vectors wait for overlaps.
constexpr int most_lanes_of_calls = 16, most_lanes_of_leaving = 8;

std::shared_ptr<const MachineCode> finish(Assembler& to, std::vector<MachineCode::Part> parts) {
    to.write_constants();
    const std::vector<unsigned char> bytes(to.getCode(), to.getCode() + to.getSize());
    const auto made = std::make_shared<const MachineCode>(std::move(parts), bytes);
    return made->may_run() ? made : nullptr;
}

}  // namespace

std::shared_ptr<const MachineCode> make_machine_code(const ProgramCode& code,
                                                     const MachineTarget& target) {
    // Between products functions are of many rows, and one call for all of these is less.
    const bool may_call = code.blocks.empty() && target.width <= most_lanes_of_calls;
    std::vector<MachineCode::Part> parts = find_parts(code, target.level, may_call);
    if (!has_machine_code() || parts.empty()) return nullptr;
    const bool calls = may_call && count_calls(code, target.level) > 0;
    const bool takes_rows = calls || are_many(code, target);
    const std::size_t size = most_bytes(code, target.level) + 128 * parts.size();
    Assembler to(size * (takes_rows ? 4 : 1), target, has_wide_vectors(), takes_rows);
    if (are_many(code, target) && to.row_bytes() > 128 && to.row_bytes() > to.value_bytes())
        return nullptr;
    PartWriter writer(code, to);
    for (MachineCode::Part& part : parts) {
        to.align(16);
        part.at = to.getSize();
        writer.write(part.first, part.last);
    }
    return finish(to, std::move(parts));
}

std::shared_ptr<const MachineCode> make_machine_code(const LoopOperation& loop,
                                                     const MachineTarget& target) {
    const ProgramCode turn = join_condition(loop);
    const bool calls = count_calls(turn, target.level) > 0;
    const bool is_masked = TurnWriter::is_masked(loop);
    if (calls && target.width > (is_masked ? most_lanes_of_leaving : most_lanes_of_calls))
        return nullptr;
    const std::vector<MachineCode::Part> parts = find_parts(turn, target.level, true);
    const bool is_one = turn.blocks.empty() && parts.size() == 1 && parts[0].first == 0 &&
                        parts[0].last == static_cast<int>(turn.operations.size());
    if (!has_machine_code() || !is_one || are_many(turn, target) || !TurnWriter::takes(loop))
        return nullptr;
    const std::size_t size = most_bytes(turn, target.level) + 128 * at(turn.argument_sizes[0]);
    const bool takes_rows = calls && !is_masked;
    Assembler to(size * (takes_rows ? 4 : 1), target, has_wide_vectors(), takes_rows);
    TurnWriter(loop, turn, to).write();
    return finish(to, parts);
}
#else
bool has_machine_code() { return false; }
CodePages::CodePages(const unsigned char*, std::size_t) {}
CodePages::~CodePages() = default;
std::shared_ptr<const MachineCode> make_machine_code(const ProgramCode&, const MachineTarget&) {
    return nullptr;
}
std::shared_ptr<const MachineCode> make_machine_code(const LoopOperation&, const MachineTarget&) {
    return nullptr;
}
#endif

ProgramCode join_condition(const LoopOperation& loop) {
    if (!loop.condition) return *loop.turn;
    const ProgramCode& turn = *loop.turn;
    ProgramCode joined = *loop.condition;
    const int shared = joined.num_shared(), scratch = joined.num_scratch;
    const auto first = static_cast<int>(joined.spread.size()),
               more = static_cast<int>(turn.spread.size());
    joined.shared.insert(joined.shared.end(), turn.shared.begin(), turn.shared.end());
    for (const int number : turn.spread) joined.spread.push_back(shared + number);
    joined.num_scratch += turn.num_scratch;
    joined.result_sizes = turn.result_sizes;
    joined.result_sizes.push_back(1);
    joined.are_numbers.insert(joined.are_numbers.end(), turn.result_sizes.size(), 0);
    int arguments = 0, results = 0;
    for (const int size : turn.argument_sizes) arguments += size;
    for (const int size : turn.result_sizes) results += size;
    // Rows of scratch that have numbers come first.
    const int rows = joined.num_shared(), behind = rows + joined.num_scratch;
    const auto of_condition = [&](int& place) {
        if (place < shared) return;
        const int row = place - shared;
        place = row < first ? rows + row
                : row < scratch
                    ? rows + row + more
                    : behind + row - scratch + (row - scratch < arguments ? 0 : results);
    };
    const auto of_turn = [&](int& place) {
        const int row = place - turn.num_shared();
        place = row < 0                  ? shared + place
                : row < more             ? rows + first + row
                : row < turn.num_scratch ? rows + scratch + row
                                         : behind + row - turn.num_scratch;
    };
    const auto move = [](RowOperation& operation, const auto& by) {
        by(operation.to);
        for (int& from : operation.from) by(from);
    };
    for (RowOperation& operation : joined.operations) move(operation, of_condition);
    for (RowOperation operation : turn.operations) {
        move(operation, of_turn);
        joined.operations.push_back(operation);
    }
    joined.blocks.insert(joined.blocks.end(), turn.blocks.begin(), turn.blocks.end());
    return joined;
}

template <class List>
std::shared_ptr<const MachineCode> MachineShelf::find_or_make(const List& of,
                                                              const MachineTarget& target) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
        if (entry.target == target) return entry.code;
    entries_.push_back({target, make_machine_code(of, target)});
    return entries_.back().code;
}
std::shared_ptr<const MachineCode> MachineShelf::get(const ProgramCode& code,
                                                     const MachineTarget& target) {
    return find_or_make(code, target);
}
std::shared_ptr<const MachineCode> MachineShelf::get(const LoopOperation& loop,
                                                     MachineTarget target) {
    target.takes_turns = true;
    return find_or_make(loop, target);
}

}  // namespace eddy::inline v0::detail
