#pragma once
// Checkpoints of a group of lanes: states and progress only, where a log knows the steps after
// them; step sizes and controllers as well after the log's end. As small as that, a thousand rows
// of a small equation stay in the second-level cache.

#include <algorithm>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/solve/lane_program.hpp>
#include <vector>

namespace eddy::detail {

/// A CheckpointStore of loop states. Memory grows as slots are written.
template <class Program>
class RowStore {
  public:
    /// Rows before `first_with_control` are replayed from a log.
    explicit RowStore(std::int64_t first_with_control = 0)
        : first_with_control_(first_with_control) {}

    /// Bytes of a slot whose rows a log covers.
    static constexpr std::int64_t bytes_per_slot =
        Program::max_packs *
        static_cast<std::int64_t>(sizeof(typename Program::State) + sizeof(typename Program::Time));

    void reserve(std::int64_t) {}

    void write(std::int64_t slot, std::int64_t row, const LoopState<Program>& x) {
        const std::size_t first = room_for(slot, row, x.num_packs);
        for (int pack = 0; pack < x.num_packs; ++pack) {
            const std::size_t i = first + static_cast<std::size_t>(pack);
            y_[i] = x.pack[pack].y;
            s_[i] = x.pack[pack].s;
            if (row < first_with_control_) continue;
            h_[i] = x.pack[pack].h;
            history_[i] = x.pack[pack].history;
        }
        rows_[static_cast<std::size_t>(slot)] = row;
    }

    [[nodiscard]] const LoopState<Program>& read(std::int64_t slot, std::int64_t row) {
        internal_check(rows_[static_cast<std::size_t>(slot)] == row,
                       "a slot holds the row that was written to it");
        const std::size_t first =
            static_cast<std::size_t>(slot) * static_cast<std::size_t>(scratch_.num_packs);
        for (int pack = 0; pack < scratch_.num_packs; ++pack) {
            const std::size_t i = first + static_cast<std::size_t>(pack);
            scratch_.pack[pack].y = y_[i];
            scratch_.pack[pack].s = s_[i];
            if (row < first_with_control_) continue;
            scratch_.pack[pack].h = h_[i];
            scratch_.pack[pack].history = history_[i];
        }
        return scratch_;
    }

    void will_read(std::int64_t, std::int64_t) {}
    void discard(std::int64_t) {}
    void release() {}

    /// Memory that it has taken.
    [[nodiscard]] std::int64_t num_bytes() const {
        const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
        return static_cast<std::int64_t>(of(rows_) + of(y_) + of(s_) + of(h_) + of(history_));
    }

  private:
    /// The first entry of a slot; all runs of a group have as many packs as fit, but the last one
    /// may have fewer.
    std::size_t room_for(std::int64_t slot, std::int64_t row, int num_packs) {
        scratch_.num_packs = num_packs;
        const auto count = static_cast<std::size_t>(slot + 1);
        const std::size_t entries = count * static_cast<std::size_t>(num_packs);
        if (rows_.size() < count) rows_.resize(count, -1);
        // The last array is the one that is asked: where an earlier one had no memory it is smaller.
        if (s_.size() < entries) {
            y_.resize(std::max(entries, y_.size()));
            s_.resize(entries);
        }
        if (row >= first_with_control_ && history_.size() < entries) {
            h_.resize(std::max(entries, h_.size()));
            history_.resize(entries);
        }
        return entries - static_cast<std::size_t>(num_packs);
    }

    std::int64_t first_with_control_;
    std::vector<std::int64_t> rows_;             // (slot)
    std::vector<typename Program::State> y_;     // (slot, pack)
    std::vector<typename Program::Time> s_, h_;  // (slot, pack)
    std::vector<typename Program::History> history_;
    LoopState<Program> scratch_;  // what read returns
};

}  // namespace eddy::detail
