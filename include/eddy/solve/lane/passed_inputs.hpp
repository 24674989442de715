#pragma once
// Inputs over whose knots steps pass. Each place keeps the numbers of the piece in which it was asked last, and the times
// between which they hold; whoever evaluates f tells the time first, and where it lies outside, the place moves from
// piece to piece.
// Test: tests/solve/smooth_inputs.cpp

#include <cstdint>
#include <eddy/ad/dual_lanes.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/solve/lane/input_tables.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Number, int room>
class PassedInputs {
    using Primal = PrimalOf<Number>;
    using Scalar = ScalarOf<Number>;
    static constexpr int num_places = num_lanes_of<Number>;
    static constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

  public:
    EDDY_HD void begin(const InputTables<Scalar>& tables) {
        tables_ = tables;
        numbers_ = {};
        low_ = Primal(-infinity);
        high_ = Primal(infinity);
        for (int place = 0; place < num_places; ++place) rows_[place] = -1;
    }
    /// A place has a lane with this row of coefficients, whose next steps begin in this piece.
    EDDY_HD void enter(const InputTables<Scalar>&, int place, std::ptrdiff_t row,
                       std::int32_t piece) {
        if (rows_[place] == row) return;  // a piece of the same row is as good to begin with
        rows_[place] = row;
        pieces_[place] = piece;
        load(place);
    }
    /// The numbers are those at t from here on.
    template <class Time>
    EDDY_INLINE EDDY_HD void move_to(const Time& t) const {
        const Primal at = primal(convert<Number>(t));
        const auto is_outside = (at < low_) | (at >= high_);
        if (any(is_outside)) [[unlikely]]
            seek(at);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr const Number& operator[](int i) const {
        return numbers_[i];
    }
    /// With the numbers of a place, in all of them.
    [[nodiscard]] PassedInputs spread(int from) const {
        PassedInputs of_place = *this;
        for (int place = 0; place < num_places; ++place) {
            of_place.rows_[place] = rows_[from];
            of_place.pieces_[place] = pieces_[from];
            of_place.load(place);
        }
        return of_place;
    }
    /// The piece that a place is in.
    [[nodiscard]] EDDY_HD std::int32_t piece(int place) const { return pieces_[place]; }

  private:
    EDDY_HD void seek(const Primal& at) const {
        for (int place = 0; place < num_places; ++place) {
            if (rows_[place] < 0) continue;
            const std::int32_t before = pieces_[place];
            tables_.seek(pieces_[place], rows_[place], get_lane(at, place), room);
            if (pieces_[place] != before) load(place);
        }
    }
    EDDY_HD void load(int place) const {
        const std::ptrdiff_t row = rows_[place];
        const std::int32_t piece = pieces_[place], last = tables_.num_pieces(room) - 1;
        for (int i = 0; i < room; ++i)
            set_lane(numbers_[i], place, LaneOf<Number>(tables_.number(row, piece, room, i)));
        set_lane(low_, place, piece == 0 ? -infinity : tables_.number(row, piece, room, 0));
        set_lane(high_, place, piece == last ? infinity : tables_.number(row, piece + 1, room, 0));
    }

    InputTables<Scalar> tables_;
    std::ptrdiff_t rows_[num_places];  // −1: no lane yet
    mutable std::int32_t pieces_[num_places];
    mutable Primal low_, high_;
    mutable Vec<Number, room> numbers_;
};

}  // namespace eddy::inline v0::detail
