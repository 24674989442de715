#pragma once
// What a call owns on the host, where the kernels of a device reach it: copied there before a launch,
// and what they have written back after it. Arrays of the caller's lie there already. A launch may
// take some of the lanes; it then knows them by their numbers from the first of them on. Tables, which
// are small and seldom change, are put side by side and go in one copy, or in none where they are there.
// Test: tests/solve/device_chunks.cpp, tests/solve/device_calls.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/call/row_task.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// Bytes, up to where the next line of a device's memory begins.
[[nodiscard]] constexpr std::size_t in_whole_lines(std::size_t bytes) {
    constexpr std::size_t line = 256;
    return (bytes + line - 1) / line * line;
}

/// When its launch is done; when somebody asks what became of lanes; if the call goes on with some lanes.
enum class ComesBack { when_done, when_asked, if_some_follow, never };
/// What comes back from there, in one piece.
struct MirroredColumn {
    void* here;
    const void* there;
    std::size_t num_bytes;
    ComesBack comes = ComesBack::when_done;
};

/// Rows of which there are as many as the largest of some counts says, once these are here: none comes back where
/// there was room for less.
struct MirroredRows {
    const std::int64_t* counts;
    std::ptrdiff_t num_counts, num_rows;
    const void* there;
    std::size_t bytes_per_row;
    void* owner;  // of the memory that they come to
    void* (*make_room)(void* owner, std::size_t num_bytes);

    [[nodiscard]] MirroredColumn wanted() const {
        const std::int64_t most = *std::max_element(counts, counts + num_counts);
        const std::size_t rows = most > num_rows ? 0 : static_cast<std::size_t>(most);
        return {make_room(owner, rows * bytes_per_row), there, rows * bytes_per_row};
    }
};

/// The lanes of a launch whose arrays are mirrored; the first of them is that of a group and of a block of 64.
struct MirroredLanes {
    LaneRange lanes;
    Rows rows{};                // that these lanes are given
    bool are_all_lanes = true;  // of the call
    bool are_ordered = false;   // is a lane another row than its number says?
};

/// Arrays of the host as a device has them. One text runs twice: first it counts the bytes that are wanted there,
/// then it takes them. On the device the lanes are rows one after another: what they are given is put so, by the host
/// or, of arrays that lie there, by the groups.
template <class Memory>
class Mirrors {
  public:
    /// From now on each lane is a path of a lane of these mirrors, whose arrays its rows are made of: what they read
    /// groups take there, and what they write stays there.
    void make_paths_of(Mirrors& lanes) { of_paths_ = &lanes; }

    /// Counts alone: nothing that comes of it is to be used.
    Mirrors(const Memory& memory, const MirroredLanes& lanes)
        : memory_(memory), of_(lanes), lanes_(lanes.lanes) {}
    /// Takes what was counted, from `there` on: tables first.
    Mirrors(const Memory& memory, const MirroredLanes& lanes, std::byte* there,
            std::size_t table_bytes)
        : memory_(memory),
          of_(lanes),
          lanes_(lanes.lanes),
          there_(there),
          rest_there_(there + table_bytes) {
        tables_.reserve(table_bytes);
    }

    [[nodiscard]] std::size_t num_bytes() const { return tables_.size() + num_bytes_; }
    /// How many of the bytes are copied, to or fro.
    [[nodiscard]] std::size_t bytes_copied() const { return tables_.size() + bytes_copied_; }
    /// The tables, as they have to be on the device.
    [[nodiscard]] std::vector<std::byte>& tables() { return tables_; }

    /// A table that kernels read, all of it.
    template <class T>
    [[nodiscard]] const T* in(const T* here, std::ptrdiff_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (here == nullptr || count <= 0) return nullptr;
        const std::size_t first = tables_.size();
        const auto* const bytes = reinterpret_cast<const std::byte*>(here);
        tables_.insert(tables_.end(), bytes, bytes + bytes_of<T>(count));
        tables_.resize(in_whole_lines(tables_.size()));
        return there_ ? reinterpret_cast<const T*>(there_ + first) : nullptr;
    }
    /// Numbers on the device: as they lie if they are there already, else copied.
    template <class T>
    [[nodiscard]] const T* in_or_there(const T* here, std::ptrdiff_t count) {
        return here && lies_in(memory_, here) ? here : in(here, count);
    }
    /// The lanes' rows of an array that kernels read: as it is, where it lies there already, and lanes are its
    /// rows.
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> in(const EnsembleView<const Real>& whole) {
        if (of_.rows.are_a_range()) {
            const auto view = rows_from(of_.rows.first, whole);
            const bool has_rows = view.first && view.num_lanes > 1 && view.num_components > 0;
            if (!of_.are_ordered || !has_rows) return as_it_is(view);
            return taken_there(lies_in(memory_, view.first) ? view : as_it_is(view));
        }
        if (whole.first == nullptr || whole.num_components == 0) return whole;
        if (of_paths_) return taken_there(of_paths_->in(whole));
        if (lies_in(memory_, whole.first)) return taken_there(whole);
        const std::ptrdiff_t lanes = lanes_.count, columns = whole.num_components;
        EnsembleArray<Real> of_lanes(there_ ? lanes : 0, columns);
        for (std::ptrdiff_t i = 0; there_ && i < columns; ++i) {
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
                of_lanes(lane, i) = whole(to_index(of_.rows(LaunchLane{lane})), i);
        }
        Real* const there = take<Real>(lanes * columns, true);
        if (there) memory_.copy_in(there, of_lanes.data(), bytes_of<Real>(lanes * columns));
        return {there, lanes, columns, 1, lanes};
    }
    /// A row for each lane, of an array that lies there, which groups take before their lanes begin.
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> taken_there(const EnsembleView<const Real>& whole) {
        const EnsembleView<Real> of_lanes = rows<Real>(whole.num_components);
        row_tasks_.push_back(RowTask::takes(of_lanes, whole));
        return ensemble_view(of_lanes);
    }
    /// An array that has one row for all lanes.
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> in_for_all(const EnsembleView<const Real>& row) {
        return as_it_is(row);
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<const Real>* all_in(const EnsembleView<const Real>* views,
                                                         std::ptrdiff_t count) {
        std::vector<EnsembleView<const Real>> there(views, views + (views ? count : 0));
        for (EnsembleView<const Real>& view : there)
            view = view.num_lanes == 1 ? in_for_all(view) : in(view);
        return in(there.data(), static_cast<std::ptrdiff_t>(there.size()));
    }

    /// What kernels read that is much, and other numbers in each call.
    template <class T>
    [[nodiscard]] const T* in_passing(const T* here, std::ptrdiff_t count) {
        if (here == nullptr || count <= 0) return nullptr;
        T* const there = take<T>(count, true);
        if (there) memory_.copy_in(there, here, bytes_of<T>(count));
        return there;
    }
    /// Room that they work in.
    template <class T>
    [[nodiscard]] T* room(std::ptrdiff_t count) {
        return take<T>(count, false);
    }
    /// Room for a row of each lane.
    template <class Real>
    [[nodiscard]] EnsembleView<Real> rows(std::ptrdiff_t columns) {
        const std::ptrdiff_t lanes = lanes_.count;
        return {room<Real>(lanes * columns), lanes, columns, 1, lanes};
    }
    /// Groups check whether their rows are finite, where anybody wants to know.
    template <class Real>
    void check(const EnsembleView<const Real>& view) {
        if (!returns_early(memory_))
            row_tasks_.push_back(RowTask::checks(view, lanes_per_row(view)));
    }
    /// Groups write this into their rows before they begin.
    template <class Real>
    void fill(const EnsembleView<Real>& view, Real value) {
        row_tasks_.push_back(RowTask::fills(view, lanes_per_row(view), value));
    }
    /// What kernels write, all of it.
    template <class T>
    [[nodiscard]] T* out(T* here, std::ptrdiff_t count, ComesBack comes = ComesBack::when_done) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (here == nullptr || count <= 0) return nullptr;
        return out_dense(EnsembleView<T>{here, count, 1, 1, count}, comes).first;
    }
    /// What kernels write for each lane, in an array of all lanes.
    template <class T>
    [[nodiscard]] T* out_of_lanes(T* here, ComesBack comes = ComesBack::when_done) {
        if (of_paths_) return here ? room<T>(lanes_.count) : nullptr;
        T* const there = here ? out(here + lanes_.first, lanes_.count, comes) : nullptr;
        return here && of_.are_ordered ? ordered(there) : there;
    }
    /// Rows of numbers, or of what consists of some, that are zero at first: one for each `lanes_per_row`
    /// lanes; or for each group, RowTask::per_group.
    template <class Number, class T>
    [[nodiscard]] T* out_zero(T* here, std::ptrdiff_t num_rows, std::ptrdiff_t per_row,
                              std::ptrdiff_t lanes_per_row,
                              ComesBack comes = ComesBack::when_done) {
        T* const there = out(here, num_rows * per_row, comes);
        if (here && num_rows > 0) begin_at_zero<Number>(there, num_rows, per_row, lanes_per_row);
        return there;
    }
    /// Room of zeros that kernels work in.
    template <class Number, class T>
    [[nodiscard]] T* room_at_zero(std::ptrdiff_t num_rows, std::ptrdiff_t per_row,
                                  std::ptrdiff_t lanes_per_row) {
        T* const there = room<T>(num_rows * per_row);
        begin_at_zero<Number>(there, num_rows, per_row, lanes_per_row);
        return there;
    }
    /// The lanes' rows of an array, `value` everywhere at first; those of one that lies there are written
    /// in place.
    template <class Real>
    [[nodiscard]] EnsembleView<Real> out(const EnsembleView<Real>& whole, Real value,
                                         ComesBack comes = ComesBack::when_done) {
        EnsembleView<Real> view = rows_from(lanes_.first, whole);
        if (view.first == nullptr) return view;
        const bool is_there = !of_paths_ && memory_.holds(view.first);
        require_argument(is_there || of_paths_ || view.lane_stride == 1 || view.num_lanes <= 1,
                         "outputs: an array with gaps is to be filled from {}; give one whose "
                         "columns are contiguous",
                         Memory::name);
        if (of_paths_)
            view = rows<Real>(view.num_components);
        else if (!is_there)
            view = out_dense(view, comes);
        if (of_.are_ordered) view = ordered(view);
        fill(view, value);
        return view;
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<Real>* out(const EnsembleView<Real>* views,
                                                std::ptrdiff_t count, Real value,
                                                ComesBack comes = ComesBack::when_done) {
        std::vector<EnsembleView<Real>> there(views, views + (views ? count : 0));
        for (EnsembleView<Real>& view : there) view = out(view, value, comes);
        return in(there.data(), static_cast<std::ptrdiff_t>(there.size()));
    }
    /// Room for rows of `per_row` numbers, of which come back into `here` as many as the counts of the lanes say.
    template <class T>
    [[nodiscard]] T* out_rows(std::vector<T>* here, std::ptrdiff_t num_rows, std::ptrdiff_t per_row,
                              const std::int64_t* counts) {
        T* const there = take<T>(num_rows * per_row, false);
        if (there && here)
            rows_.push_back({counts, lanes_.count, num_rows, there, bytes_of<T>(per_row), here,
                             [](void* owner, std::size_t num_bytes) -> void* {
                                 auto& numbers = *static_cast<std::vector<T>*>(owner);
                                 numbers.resize(num_bytes / sizeof(T));
                                 return numbers.data();
                             }});
        return there;
    }
    [[nodiscard]] const std::vector<MirroredRows>& rows() const { return rows_; }
    /// Is nothing taken yet, but only counted?
    [[nodiscard]] bool only_counts() const { return there_ == nullptr; }

    /// What groups do with their rows of all that was asked for, as the last of the tables.
    [[nodiscard]] RowTasks row_tasks() {
        const auto count = static_cast<std::ptrdiff_t>(row_tasks_.size());
        return {in(row_tasks_.data(), count), static_cast<std::int32_t>(count)};
    }
    /// What they do with rows of lanes that have ended.
    [[nodiscard]] RowTasks row_puts() {
        const auto count = static_cast<std::ptrdiff_t>(row_puts_.size());
        return {in(row_puts_.data(), count), static_cast<std::int32_t>(count)};
    }
    /// Lanes' rows become those that they are put into; returns how far these are apart.
    template <class T>
    std::ptrdiff_t put_back(T*& of_lanes) const {
        const auto task = std::find_if(row_puts_.begin(), row_puts_.end(),
                                       [&](const RowTask& put) { return put.first == of_lanes; });
        if (task == row_puts_.end()) return 1;
        of_lanes = static_cast<T*>(task->others);
        return task->other_row_stride;
    }
    /// What comes back of what kernels have written.
    [[nodiscard]] const std::vector<MirroredColumn>& columns() const { return columns_; }
    [[nodiscard]] const std::vector<MirroredColumn>& addends() const { return addends_; }
    [[nodiscard]] bool has_all_lanes() const { return of_.are_all_lanes; }

    [[nodiscard]] const LaneRange& lanes() const { return lanes_; }
    [[nodiscard]] const MirroredLanes& mirrored_lanes() const { return of_; }
    /// The rows of the lanes, as groups look them up.
    [[nodiscard]] Rows rows_there() {
        Rows rows = of_.rows;
        rows.list = in_passing(rows.list, lanes_.count);
        return rows;
    }

  private:
    template <class T>
    [[nodiscard]] static std::size_t bytes_of(std::ptrdiff_t count) {
        return static_cast<std::size_t>(count) * sizeof(T);
    }
    template <class Real>
    [[nodiscard]] static bool is_dense(const EnsembleView<Real>& view) {
        const bool has_whole_columns = view.lane_stride == 1 || view.num_lanes == 1;
        return has_whole_columns &&
               (view.num_components <= 1 || view.component_stride == view.num_lanes);
    }
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> as_it_is(const EnsembleView<const Real>& view) {
        if (view.first == nullptr) return view;
        if (lies_in(memory_, view.first)) {
            check(view);
            return view;
        }
        const std::ptrdiff_t lanes = view.num_lanes, columns = view.num_components;
        Real* const there = take<Real>(lanes * columns, true);
        if (there && is_dense(view)) {
            memory_.copy_in(there, view.first, bytes_of<Real>(lanes * columns));
        } else if (there && view.lane_stride == 1 && lanes > 1) {
            for (std::ptrdiff_t i = 0; i < columns; ++i)
                memory_.copy_in(there + i * lanes, &view(0, i), bytes_of<Real>(lanes));
        } else if (there) {
            const EnsembleArray<Real> copy(view);
            memory_.copy_in(there, copy.data(), bytes_of<Real>(lanes * columns));
        }
        return {there, lanes, columns, 1, lanes};
    }
    /// An array of one row has it for all lanes, or for the only one.
    template <class Real>
    [[nodiscard]] EnsembleView<Real> rows_from(std::ptrdiff_t first,
                                               EnsembleView<Real> view) const {
        if (view.first == nullptr || view.num_lanes <= 1) return view;
        view.first += first * view.lane_stride;
        view.num_lanes = lanes_.count;
        return view;
    }
    /// Rows of the lanes in the place of those that they are put into.
    template <class Real>
    [[nodiscard]] EnsembleView<Real> ordered(const EnsembleView<Real>& to) {
        const EnsembleView<Real> of_lanes = rows<Real>(to.num_components);
        row_puts_.push_back(RowTask::puts(of_lanes, to));
        return of_lanes;
    }
    template <class T>
    [[nodiscard]] T* ordered(T* to) {
        using Word = std::int64_t;
        static_assert(sizeof(T) % sizeof(Word) == 0);
        constexpr auto words = static_cast<std::ptrdiff_t>(sizeof(T) / sizeof(Word));
        const std::ptrdiff_t lanes = lanes_.count;
        T* const of_lanes = room<T>(lanes);
        const auto rows_of = [&](T* first) {
            return EnsembleView<Word>{reinterpret_cast<Word*>(first), lanes, words, words, 1};
        };
        row_puts_.push_back(RowTask::puts(rows_of(of_lanes), rows_of(to)));
        return of_lanes;
    }
    template <class View>
    [[nodiscard]] std::ptrdiff_t lanes_per_row(const View& view) const {
        return view.num_lanes <= 1 ? std::max<std::ptrdiff_t>(1, lanes_.count) : 1;
    }
    template <class Number, class T>
    void begin_at_zero(T* there, std::ptrdiff_t num_rows, std::ptrdiff_t per_row,
                       std::ptrdiff_t lanes_per_row) {
        static_assert(sizeof(T) % sizeof(Number) == 0);
        const std::ptrdiff_t columns =
            per_row * static_cast<std::ptrdiff_t>(sizeof(T) / sizeof(Number));
        const EnsembleView<Number> rows{reinterpret_cast<Number*>(there), num_rows, columns,
                                        columns, 1};
        row_tasks_.push_back(RowTask::fills(rows, lanes_per_row, Number(0)));
    }
    /// Null while bytes are counted.
    template <class T>
    [[nodiscard]] T* take(std::ptrdiff_t count, bool is_copied) {
        const std::size_t bytes = bytes_of<T>(count), first = num_bytes_;
        num_bytes_ += in_whole_lines(bytes);
        bytes_copied_ += is_copied ? bytes : 0;
        return there_ ? reinterpret_cast<T*>(rest_there_ + first) : nullptr;
    }
    template <class T>
    [[nodiscard]] EnsembleView<T> out_dense(const EnsembleView<T>& here, ComesBack comes) {
        const std::ptrdiff_t lanes = here.num_lanes, columns = here.num_components;
        const EnsembleView<T> there{take<T>(lanes * columns, true), lanes, columns, 1, lanes};
        if (there.first == nullptr || comes == ComesBack::never) return there;
        auto& list = comes == ComesBack::if_some_follow ? addends_ : columns_;
        if (is_dense(here)) {
            list.push_back({here.first, there.first, bytes_of<T>(lanes * columns), comes});
        } else {
            for (std::ptrdiff_t i = 0; i < columns; ++i)
                list.push_back({&here(0, i), &there(0, i), bytes_of<T>(lanes), comes});
        }
        return there;
    }

    Memory memory_;
    MirroredLanes of_;
    LaneRange lanes_;
    Mirrors* of_paths_ = nullptr;  // those of the lanes, where these are their paths
    std::byte *there_ = nullptr, *rest_there_ = nullptr;  // null while bytes are counted
    std::vector<std::byte> tables_;
    std::size_t num_bytes_ = 0, bytes_copied_ = 0;   // of the rest
    std::vector<MirroredColumn> columns_, addends_;  // to be brought back; if some lanes follow
    std::vector<MirroredRows> rows_;
    std::vector<RowTask> row_tasks_, row_puts_;
};

}  // namespace eddy::inline v0::detail
