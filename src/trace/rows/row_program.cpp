// A list of operations, bound and walked.

#include <algorithm>
#include <eddy/core/error.hpp>
#include <eddy/trace/rows/row_program.hpp>

#include "row_engine.hpp"

namespace eddy::inline v0 {
namespace {

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The engine of a level. Where this build lacks it, a processor of fewer instructions.
const detail::RowEngine* find_engine(RowLevel level, int width) {
    const void* engine = nullptr;
    if (level == RowLevel::fused) engine = detail::eddy_row_engine_fused(width);
    if (engine == nullptr) engine = detail::eddy_row_engine_plain(width);
    return static_cast<const detail::RowEngine*>(engine);
}

}  // namespace

RowProgram::RowProgram(std::shared_ptr<const ProgramCode> code, int width, RowLevel level)
    : code_(std::move(code)), width_(width) {
    require_argument(width == 1 || width == 8 || width == 16 || width == 32 || width == 64,
                     "RowProgram: tiles of {} lanes; take 1, 8, 16, 32 or 64", width);
    engine_ = find_engine(level, width);
    for (const RowOperation& operation : code_->operations) {
        detail::RowInstruction now{};
        now.handler =
            engine_
                ->handlers[detail::row_handler(operation.op, operation.kind, operation.is_stored)];
        internal_check(now.handler != nullptr, "RowProgram: every operation has a handler");
        now.to = static_cast<std::uint32_t>(operation.to);
        now.a = static_cast<std::uint32_t>(operation.from[0]);
        now.b = static_cast<std::uint32_t>(has_index(operation.op) ? operation.index
                                                                   : operation.from[1]);
        now.c = static_cast<std::uint32_t>(operation.from[2]);
        list_.push_back(now);
    }
    list_.push_back({engine_->stop, 0, 0, 0, 0});

    const int num_shared = code_->num_shared();
    constexpr int line = 8;  // numbers of a line of the cache
    const std::size_t shared_size = at((num_shared + line - 1) / line * line);
    memory_.assign(shared_size + at(code_->num_scratch) * at(width) + line, 0.0);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    double* const shared = memory_.data() + (line - address / sizeof(double) % line) % line;
    double* const scratch = shared + shared_size;
    std::copy(code_->shared.begin(), code_->shared.end(), shared);
    rows_.assign(at(num_shared) + at(code_->num_rows()), nullptr);
    for (int k = 0; k < num_shared; ++k) rows_[at(k)] = shared + k;
    for (int k = 0; k < code_->num_scratch; ++k)
        rows_[at(num_shared + k)] = scratch + at(k) * at(width);
    for (std::size_t k = 0; k < code_->spread.size(); ++k)
        std::fill_n(scratch + k * at(width), width, code_->shared[at(code_->spread[k])]);
    blocks_.assign(code_->argument_sizes.size() + code_->result_sizes.size(), nullptr);
}

void RowProgram::point_to(int first, int count, const double* block) {
    double* const from = const_cast<double*>(block);  // arguments are read alone
    for (int k = 0; k < count; ++k) rows_[at(first + k)] = from + at(k) * at(width_);
}

void RowProgram::run(const double* const* blocks) {
    int first = code_->num_shared() + code_->num_scratch;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const std::size_t num_arguments = code_->argument_sizes.size();
        const int count =
            b < num_arguments ? code_->argument_sizes[b] : code_->result_sizes[b - num_arguments];
        if (blocks[b] != blocks_[b] && count > 0) {
            point_to(first, count, blocks[b]);
            blocks_[b] = blocks[b];
        }
        first += count;
    }
    for (int lane = 0; lane < width_; lane += engine_->lanes)
        engine_->walk(list_.data(), rows_.data(), lane);
}

}  // namespace eddy::inline v0
