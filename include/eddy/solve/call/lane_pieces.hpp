#pragma once
// A run of the lanes of a launch as a launch of its own: in place, or on another rank, with what its lanes are given in one
// message, and what becomes of them in another. What a kernel reads and writes of a lane, mirrored_kernels.hpp says,
// as it does for devices; here are the ways to follow it. Tables and shared parameters do not go along: ranks that share
// a call have the same.
// Test: tests/backends/stealing.cpp

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <eddy/solve/call/mirrored_kernels.hpp>
#include <eddy/solve/ranks/rank_wire.hpp>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Bytes, up to where any number may begin.
[[nodiscard]] constexpr std::size_t in_whole_words(std::size_t bytes) {
    constexpr std::size_t word = 16;
    return (bytes + word - 1) / word * word;
}

/// Arrays of numbers one after another, each where any number may begin.
class PieceWriter {
  public:
    template <class T>
    void put(const T* first, std::ptrdiff_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::size_t begin = message_.size(),
                          bytes = static_cast<std::size_t>(count) * sizeof(T);
        message_.resize(begin + in_whole_words(bytes));
        if (bytes > 0) std::memcpy(message_.data() + begin, first, bytes);
    }
    /// Rows, column after column, of the numbers at(row, i).
    template <class T>
    void put_rows(std::ptrdiff_t num_rows, std::ptrdiff_t num_columns, const auto& at) {
        std::vector<T> column(static_cast<std::size_t>(num_rows));
        for (std::ptrdiff_t i = 0; i < num_columns; ++i) {
            for (std::ptrdiff_t row = 0; row < num_rows; ++row)
                column[static_cast<std::size_t>(row)] = at(row, i);
            put(column.data(), num_rows);
        }
    }
    [[nodiscard]] RankWire::Message take() { return std::move(message_); }

  private:
    RankWire::Message message_;
};

/// Reads what a writer has written, where it lies.
class PieceReader {
  public:
    explicit PieceReader(const RankWire::Message& message) : at_(message.data()) {}

    template <class T>
    [[nodiscard]] const T* next(std::ptrdiff_t count) {
        const auto* const first = reinterpret_cast<const T*>(at_);
        at_ += in_whole_words(static_cast<std::size_t>(count) * sizeof(T));
        return first;
    }
    template <class T>
    [[nodiscard]] T read() {
        return *next<T>(1);
    }
    /// Rows whose columns follow each other.
    template <class T>
    [[nodiscard]] EnsembleView<const T> rows(std::ptrdiff_t count, std::ptrdiff_t columns) {
        const std::size_t bytes = in_whole_words(static_cast<std::size_t>(count) * sizeof(T));
        const auto* const first = reinterpret_cast<const T*>(at_);
        at_ += bytes * static_cast<std::size_t>(columns);
        return {first, count, columns, 1, static_cast<std::ptrdiff_t>(bytes / sizeof(T))};
    }

  private:
    const std::byte* at_;
};

/// How many rows and columns of an array go along; none: it is not of lanes, or not there.
struct PieceShape {
    std::ptrdiff_t num_rows = 0, num_columns = 0;
};

/// Where the lanes are: what they are given lies as it does, and what they leave goes to its place.
struct LanesInPlace {
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> input(const EnsembleView<const Real>& whole) const {
        return whole;
    }
    template <class T>
    [[nodiscard]] EnsembleView<T> output(const EnsembleView<T>& rows, bool) const {
        return rows;
    }
};

/// Puts what lanes are given into a message.
struct LanesSent {
    PieceWriter& to;
    Rows rows;  // of the whole launch
    LaneRange lanes;

    template <class Real>
    [[nodiscard]] EnsembleView<const Real> input(const EnsembleView<const Real>& whole) const {
        const bool is_there = whole.first != nullptr && whole.num_components > 0;
        const bool is_for_all = whole.num_lanes <= 1;
        const PieceShape shape{is_there ? (is_for_all ? 1 : lanes.count) : 0, whole.num_components};
        to.put(&shape, 1);
        if (is_there)
            to.put_rows<Real>(shape.num_rows, shape.num_columns,
                              [&](std::ptrdiff_t lane, std::ptrdiff_t i) {
                                  const LaunchLane of{lanes.first + lane};
                                  return whole(is_for_all ? 0 : to_index(rows(of)), i);
                              });
        return whole;
    }
    template <class T>
    [[nodiscard]] EnsembleView<T> output(const EnsembleView<T>& rows_of_lanes,
                                         bool is_of_lanes) const {
        const bool goes = is_of_lanes && rows_of_lanes.first != nullptr;
        const PieceShape shape{goes ? rows_of_lanes.num_lanes : 0,
                               goes ? rows_of_lanes.num_components : 0};
        to.put(&shape, 1);
        return rows_of_lanes;
    }
};

/// The lanes on another rank: what they are given lies in the message, and what they leave beside it.
class LanesReceived {
  public:
    explicit LanesReceived(PieceReader& from) : from_(from) {}

    template <class Real>
    [[nodiscard]] EnsembleView<const Real> input(const EnsembleView<const Real>&) {
        const auto shape = from_.read<PieceShape>();
        return shape.num_rows == 0 ? EnsembleView<const Real>{}
                                   : from_.rows<Real>(shape.num_rows, shape.num_columns);
    }
    template <class T>
    [[nodiscard]] EnsembleView<T> output(const EnsembleView<T>& own, bool) {
        const auto shape = from_.read<PieceShape>();
        if (shape.num_rows == 0) return own;
        const auto memory = std::make_shared<std::vector<T>>(
            static_cast<std::size_t>(shape.num_rows * shape.num_columns));
        const EnsembleView<T> rows{memory->data(), shape.num_rows, shape.num_columns, 1,
                                   shape.num_rows};
        results_.push_back([memory, rows](PieceWriter& to) {
            to.put_rows<T>(rows.num_lanes, rows.num_components, rows);
        });
        return rows;
    }
    void put_results(PieceWriter& to) const {
        for (const auto& put : results_) put(to);
    }

  private:
    PieceReader& from_;
    std::vector<std::function<void(PieceWriter&)>> results_;
};

/// Takes what lanes have left there to its place.
struct LanesBrought {
    PieceReader& from;

    template <class Real>
    [[nodiscard]] EnsembleView<const Real> input(const EnsembleView<const Real>& whole) const {
        return whole;
    }
    template <class T>
    [[nodiscard]] EnsembleView<T> output(const EnsembleView<T>& rows, bool is_of_lanes) const {
        if (!is_of_lanes || rows.first == nullptr || rows.num_lanes == 0) return rows;
        const EnsembleView<const T> brought = from.rows<T>(rows.num_lanes, rows.num_components);
        for (std::ptrdiff_t i = 0; i < rows.num_components; ++i) {
            for (std::ptrdiff_t row = 0; row < rows.num_lanes; ++row)
                rows(row, i) = brought(row, i);
        }
        return rows;
    }
};

/// What mirrored() asks of mirrors (call/mirrors.hpp), of lanes that stay on the host. They are followed in one of the
/// ways above.
template <class Way>
class LanePiece {
  public:
    /// Some of the lanes of a launch that has `num_lanes`.
    LanePiece(Way& way, const LaneRange& lanes, std::ptrdiff_t num_lanes)
        : way_(way), lanes_(lanes), is_one_lane_(num_lanes <= 1) {}

    [[nodiscard]] const LaneRange& lanes() const { return lanes_; }
    [[nodiscard]] static bool has_all_lanes() { return false; }

    template <class T>
    [[nodiscard]] static const T* in(const T* here, std::ptrdiff_t) {
        return here;
    }
    template <class T>
    [[nodiscard]] static const T* in_or_there(const T* here, std::ptrdiff_t) {
        return here;
    }
    template <class T>
    [[nodiscard]] static const T* in_passing(const T* here, std::ptrdiff_t) {
        return here;
    }
    template <class Real>
    [[nodiscard]] EnsembleView<const Real> in(const EnsembleView<const Real>& whole) {
        return way_.input(whole);
    }
    template <class Real>
    [[nodiscard]] static EnsembleView<const Real> in_for_all(const EnsembleView<const Real>& row) {
        return row;
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<const Real>* all_in(const EnsembleView<const Real>* views,
                                                         std::ptrdiff_t count) {
        auto& there = keep(views, count);
        for (EnsembleView<const Real>& view : there) view = way_.input(view);
        return there.data();
    }
    template <class T>
    [[nodiscard]] T* room(std::ptrdiff_t count) {
        const auto memory = std::make_shared<std::vector<T>>(static_cast<std::size_t>(count));
        kept_.push_back(memory);
        return memory->data();
    }
    template <class T>
    [[nodiscard]] T* out(T* here, std::ptrdiff_t count, ComesBack = ComesBack::when_done) {
        return way_.output(EnsembleView<T>{here, count, 1, 1, count}, true).first;
    }
    template <class T>
    [[nodiscard]] T* out_of_lanes(T* here, ComesBack = ComesBack::when_done) {
        return out(here ? here + lanes_.first : nullptr, lanes_.count);
    }
    template <class Number, class T>
    [[nodiscard]] T* out_zero(T* here, std::ptrdiff_t num_rows, std::ptrdiff_t per_row,
                              std::ptrdiff_t, ComesBack = ComesBack::when_done) {
        return out(here, num_rows * per_row);
    }
    /// The lanes' rows; an array of one row is not of lanes, but of a call of one.
    template <class Real>
    [[nodiscard]] EnsembleView<Real> out(const EnsembleView<Real>& whole, Real value,
                                         ComesBack = ComesBack::when_done) {
        const bool is_of_lanes = whole.num_lanes > 1 || is_one_lane_;
        EnsembleView<Real> rows = whole;
        if (whole.first != nullptr && is_of_lanes) {
            rows.first += lanes_.first * whole.lane_stride;
            rows.num_lanes = lanes_.count;
        }
        const EnsembleView<Real> there = way_.output(rows, is_of_lanes);
        if (there.first != rows.first) fill(there, value);
        return there;
    }
    template <class Real>
    [[nodiscard]] const EnsembleView<Real>* out(const EnsembleView<Real>* views,
                                                std::ptrdiff_t count, Real value,
                                                ComesBack = ComesBack::when_done) {
        auto& there = keep(views, count);
        for (EnsembleView<Real>& view : there) view = out(view, value);
        return there.data();
    }

  private:
    template <class View>
    [[nodiscard]] std::vector<View>& keep(const View* views, std::ptrdiff_t count) {
        const auto list = std::make_shared<std::vector<View>>(views, views + (views ? count : 0));
        kept_.push_back(list);
        return *list;
    }
    template <class Real>
    static void fill(const EnsembleView<Real>& rows, Real value) {
        for (std::ptrdiff_t i = 0; i < rows.num_components; ++i)
            for (std::ptrdiff_t row = 0; row < rows.num_lanes; ++row) rows(row, i) = value;
    }

    Way& way_;
    LaneRange lanes_;
    bool is_one_lane_;
    std::vector<std::shared_ptr<void>> kept_;  // lists that the kernel refers to
};

}  // namespace eddy::inline v0::detail
