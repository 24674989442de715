// A list of operations, bound and walked.

#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/trace/rows/row_program.hpp>

#include "list_reads.hpp"
#include "loop_on_rows.hpp"
#include "machine_code.hpp"
#include "row_engine.hpp"
#include "scalar_list.hpp"
#include "table_rows.hpp"

namespace eddy::inline v0 {
namespace {

using detail::at;

}  // namespace

bool detail::has_vectors_of_32_bytes() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}
bool detail::has_wide_vectors() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

template <class Real>
RowProgramOf<Real>::RowProgramOf(std::shared_ptr<const ProgramCode> code, int width, RowLevel level,
                                 MachineCodeUse use)
    : code_(std::move(code)), width_(width) {
    require_argument(width == 1 || width == 8 || width == 16 || width == 32 || width == 64,
                     "RowProgram: tiles of {} lanes; take 1, 8, 16, 32 or 64", width);
    engine_ = detail::find_engine<Real>(level, width);
    wide_ = detail::find_wide_engine<Real>(level, width);
    if (use == MachineCodeUse::where_possible && code_->machine_code)
        machine_ = code_->machine_code->get(*code_, {width, std::is_same_v<Real, float>, level});
    bind_list();
    if (machine_ && steps_.size() == 1 && code_->blocks.empty())
        only_ = machine_->function(machine_->parts().front());

    const int num_shared = code_->num_shared();
    constexpr int line = 64 / sizeof(Real);  // numbers of a line of the cache
    const auto whole_lines = [](std::size_t size) { return (size + line - 1) / line * line; };
    const std::size_t shared_size = whole_lines(at(num_shared));
    const std::size_t scratch_size = whole_lines(at(code_->num_scratch) * at(width));
    memory_.assign(shared_size + scratch_size + line, Real(0));
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    Real* const shared = memory_.data() + (line - address / sizeof(Real) % line) % line;
    Real* const scratch = shared + shared_size;
    detail::write_numbers(*code_, width, shared, scratch);
    rows_.assign(at(num_shared) + at(code_->num_rows()), nullptr);
    for (int k = 0; k < num_shared; ++k) rows_[at(k)] = shared + k;
    for (int k = 0; k < code_->num_scratch; ++k)
        rows_[at(num_shared + k)] = scratch + at(k) * at(width);
    blocks_.assign(2 + code_->argument_sizes.size() + code_->result_sizes.size(), nullptr);
    blocks_[0] = shared;
    blocks_[1] = scratch;
    for (const LoopOperation& loop : code_->loops)
        loops_.push_back(std::make_unique<detail::LoopOnRows<Real>>(loop, width, level, use));
}
template <class Real>
RowProgramOf<Real>::~RowProgramOf() = default;

template <class Real>
std::int64_t RowProgramOf<Real>::num_bytes() const {
    std::size_t bytes = memory_.capacity() * sizeof(Real) + rows_.capacity() * sizeof(Real*) +
                        list_.capacity() * sizeof(detail::RowInstruction) +
                        room_.capacity() * sizeof(Line) + steps_.capacity() * sizeof(Step);
    for (const auto& loop : loops_) bytes += static_cast<std::size_t>(loop->num_bytes());
    return static_cast<std::int64_t>(bytes);
}

template <class Real>
bool RowProgramOf<Real>::runs_machine_code() const {
    return machine_ || std::any_of(loops_.begin(), loops_.end(),
                                   [](const auto& loop) { return loop->runs_machine_code(); });
}

/// Steps, and of those that are walked handlers and places, with an end behind each.
template <class Real>
void RowProgramOf<Real>::bind_list() {
    using Kind = typename Step::Kind;
    const detail::Places places(*code_);
    std::size_t block = 0, part = 0;
    bool walks = false;
    const auto push_step = [&](Kind kind, std::size_t which) {
        if (walks) list_.push_back({engine_->stop, 0, 0, 0, 0});
        walks = kind == Kind::walk;
        steps_.push_back({kind, which});
    };
    const auto push_blocks = [&](std::size_t before) {
        for (; block < code_->blocks.size() && at(code_->blocks[block].before) <= before; ++block)
            push_step(Kind::block, block);
    };
    for (std::size_t k = 0; k < code_->operations.size(); ++k) {
        push_blocks(k);
        if (machine_ && part < machine_->parts().size() && at(machine_->parts()[part].first) == k) {
            push_step(Kind::machine_code, part);
            k = at(machine_->parts()[part++].last) - 1;
            continue;
        }
        if (!walks) push_step(Kind::walk, list_.size());
        const RowOperation& operation = code_->operations[k];
        detail::RowInstruction now{};
        const int handler = detail::row_handler(operation.op, operation.kind, operation.is_stored);
        if (wide_) now.handler = wide_->handlers[handler];
        if (!now.handler) now.handler = engine_->handlers[handler];
        internal_check(now.handler != nullptr, "RowProgram: every operation has a handler");
        now.to = static_cast<std::uint32_t>(operation.to);
        now.a = static_cast<std::uint32_t>(operation.from[0]);
        now.b = static_cast<std::uint32_t>(has_index(operation.op) ? operation.index
                                                                   : operation.from[1]);
        now.c = static_cast<std::uint32_t>(operation.from[2]);
        const bool is_function = !detail::is_row_arithmetic(operation.op);
        const int more =
            is_function ? detail::count_functions(*code_, places, static_cast<int>(k), width_) - 1
                        : 0;
        if (more > 0) now.c = static_cast<std::uint32_t>(more);
        k += at(more);
        list_.push_back(now);
    }
    push_blocks(code_->operations.size());
    if (walks) list_.push_back({engine_->stop, 0, 0, 0, 0});
}

template <class Real>
void RowProgramOf<Real>::point_to(int first, int count, const Real* block, int step) {
    Real* const from = const_cast<Real*>(block);  // arguments are read alone
    for (int k = 0; k < count; ++k) rows_[at(first + k)] = from + at(k) * at(step);
}

template <class Real>
void RowProgramOf<Real>::run_block(const BlockOperation& block, const detail::SummedLanes& sums,
                                   Real* room) {
    const auto row = [&](int place) { return rows_[at(place)]; };
    const detail::RowBlockKernels<Real>& kernels = *(wide_ ? wide_ : engine_)->blocks;
    switch (block.kind) {
        case BlockOperation::Kind::product:
            return kernels.multiply(row(block.matrix), block.row_step, block.column_step,
                                    block.rows, block.columns,
                                    block.bias < 0 ? nullptr : row(block.bias), row(block.from[0]),
                                    row(block.to), width_);
        case BlockOperation::Kind::outer_sum:
            return kernels.add_outer(row(block.to), block.rows, block.columns, row(block.from[0]),
                                     row(block.from[1]), width_, &sums, room);
        case BlockOperation::Kind::row_sum:
            return kernels.add_lanes(row(block.to), block.rows, row(block.from[0]), width_,
                                     sums.lane, sums.count);
        case BlockOperation::Kind::at:
            return detail::read_at(row(block.to), block.rows, table_of(block), row(block.from[0]),
                                   width_);
        case BlockOperation::Kind::add_at:
            return detail::add_at(row(block.to), table_of(block), row(block.from[0]),
                                  row(block.from[1]), block.columns, width_);
        case BlockOperation::Kind::scatter: {
            const bool are_lanes_summed = block.are_numbers;
            return detail::scatter(
                {row(block.to), block.rows, are_lanes_summed ? 1 : width_, !are_lanes_summed},
                row(block.from[0]), row(block.from[1]), block.columns, width_,
                are_lanes_summed ? sums.lane : nullptr, are_lanes_summed ? sums.count : width_);
        }
        case BlockOperation::Kind::knot:
            return detail::find_knots(row(block.to), table_of(block), row(block.from[0]),
                                      block.is_even, width_);
        case BlockOperation::Kind::loop: return loops_[at(block.loop)]->run(rows_.data());
    }
}
template <class Real>
detail::TableOfRows<Real> RowProgramOf<Real>::table_of(const BlockOperation& block) const {
    const bool is_result = block.kind == BlockOperation::Kind::add_at;
    const int length = is_result ? block.rows : block.columns;
    if (block.matrix >= 0) return {rows_[at(block.matrix)], length, 1, 0};
    return {rows_[at(block.from[2])], length, width_, 1};
}
/// For the sums of outer products, each by itself: what one evaluation leaves there the last one reads.
template <class Real>
Real* RowProgramOf<Real>::reserve_room(int num_lanes) {
    std::size_t size = 0;
    for (const BlockOperation& block : code_->blocks)
        if (block.kind == BlockOperation::Kind::outer_sum)
            size += at(detail::room_of_outer(block.rows, block.columns, num_lanes));
    const std::size_t num_lines = size * sizeof(Real) / sizeof(Line);
    if (num_lines > room_.size()) room_.resize(num_lines);
    return room_.empty() ? nullptr : room_.front().number;
}
template <class Real>
void RowProgramOf<Real>::walk(std::size_t first) {
    for (int lane = 0; lane < width_; lane += engine_->lanes)
        engine_->walk(list_.data() + first, rows_.data(), lane);
}

/// Places of blocks that have moved.
template <class Real>
void RowProgramOf<Real>::point_to_blocks(const Real* const* blocks) {
    int first = code_->num_shared() + code_->num_scratch;
    for (std::size_t b = 0; b + 2 < blocks_.size(); ++b) {
        const std::size_t num_arguments = code_->argument_sizes.size();
        const int size =
            b < num_arguments ? code_->argument_sizes[b] : code_->result_sizes[b - num_arguments];
        const bool are_numbers = b < code_->are_numbers.size() && code_->are_numbers[b] != 0;
        if (blocks[b] != blocks_[b + 2] && size > 0) {
            point_to(first, size, blocks[b], are_numbers ? 1 : width_);
            blocks_[b + 2] = blocks[b];
        }
        first += size;
    }
}

template <class Real>
void RowProgramOf<Real>::run(const Real* const* blocks, const detail::SummedLanes& sums) {
    if (only_) {  // nobody asks for rows; a few pointers, one by one: of one lane a call of copy_n is a tenth
        for (std::size_t b = 2; b < blocks_.size(); ++b) blocks_[b] = blocks[b - 2];
        return only_(reinterpret_cast<const void* const*>(blocks_.data()));
    }
    point_to_blocks(blocks);
    int num_lanes = 0;
    Real* room = nullptr;  // asked for by the first sum of outer products: most lists have none
    for (const Step& step : steps_) {
        if (step.kind == Step::Kind::walk) {
            walk(step.which);
        } else if (step.kind == Step::Kind::machine_code) {
            machine_->function(machine_->parts()[step.which])(
                reinterpret_cast<const void* const*>(blocks_.data()));
        } else {
            const BlockOperation& block = code_->blocks[step.which];
            const bool is_outer = block.kind == BlockOperation::Kind::outer_sum;
            if (is_outer && room == nullptr) {
                num_lanes = width_ * detail::outer_depth(sums.num_evaluations, width_);
                room = reserve_room(num_lanes);
            }
            run_block(block, sums, room);
            if (is_outer) room += detail::room_of_outer(block.rows, block.columns, num_lanes);
        }
    }
}

template class RowProgramOf<double>;
template class RowProgramOf<float>;

}  // namespace eddy::inline v0
