#pragma once
// What tangents in many directions need of Jacobians, whatever the method: products with their structural non-zeros, and
// what comes from the parameters, of which a direction has one.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/ad/jacobians.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0::detail {

/// The stages of a step, or what its systems have for solutions, and its end: of states, or of tangents.
template <class Number, int num_stages, int size>
struct TakenStages {
    Vec<Number, size> k[num_stages];
    Vec<Number, size> next;
};

/// Products with ∂f/∂y.
template <class Jacobians>
struct TangentProducts {
    /// The entries, as one text for all stages.
    template <class Values, class... Arguments>
    [[gnu::noinline]] static void evaluate_at(Values& values, const Arguments&... arguments) {
        Jacobians::evaluate_into(values, arguments...);
    }
    /// Adds J s to `sum`; one text for all stages, where it is long.
    template <class Primal, class Number, int room, int columns, int rows>
    EDDY_INLINE static void add(const Primal (&jacobian)[room], const Vec<Number, columns>& s,
                                Vec<Number, rows>& sum) {
        if constexpr (Jacobians::num_of_y <= 16)
            add_here(jacobian, s, sum);
        else
            add_out_of_line(jacobian, s, sum);
    }

  private:
    template <class Primal, class Number, int room, int columns, int rows>
    EDDY_INLINE static void add_here(const Primal (&jacobian)[room], const Vec<Number, columns>& s,
                                     Vec<Number, rows>& sum) {
        static_for<0, Jacobians::num_of_y>([&]<int e>() EDDY_INLINE {
            constexpr JacobianEntry at = Jacobians::OfY::frozen.entries[e];
            sum.data[at.row] = mul_add(jacobian[e], s.data[at.column], sum.data[at.row]);
        });
    }
    template <class Primal, class Number, int room, int columns, int rows>
    [[gnu::noinline]] static void add_out_of_line(const Primal (&jacobian)[room],
                                                  const Vec<Number, columns>& s,
                                                  Vec<Number, rows>& sum) {
        add_here(jacobian, s, sum);
    }
};

/// The first `count` values, of one place.
template <class OfPlaces, class OfPlace>
void take_values(const OfPlaces& of_places, int place, int count, OfPlace& of_place) {
    for (int e = 0; e < count; ++e) of_place[e] = get_lane(of_places[e], place);
}
/// The entries of Jacobians, of one place.
template <class Jacobians, class Number, class Lane>
void take_entries(const typename Jacobians::template Values<Number>& of_places, int place,
                  typename Jacobians::template Values<Lane>& of_place) {
    take_values(of_places.by_y, place, Jacobians::num_of_y, of_place.by_y);
    take_values(of_places.by_p, place, Jacobians::num_of_p, of_place.by_p);
}

/// Where derivatives with respect to p may be other than zero, column by column.
template <int num_columns, int num_entries>
struct TangentColumns {
    int begin[num_columns + 2]{};
    int row[num_entries + 1]{}, column[num_entries + 1]{}, entry[num_entries + 1]{};

    constexpr explicit TangentColumns(const JacobianEntry* entries) {
        int count = 0;
        for (int of = 0; of < num_columns; ++of) {
            begin[of] = count;
            for (int e = 0; e < num_entries; ++e) {
                if (entries[e].column != of) continue;
                row[count] = entries[e].row;
                column[count] = of;
                entry[count++] = e;
            }
        }
        begin[num_columns] = count;
    }
};

template <class Jacobians, class Field>
inline constexpr TangentColumns<Field::parameter_size, Jacobians::num_of_p> columns_of_p{
    Jacobians::OfP::frozen.entries};

/// What the stages of a Number of tangents get from p, (stage, component). Zero but where `set` has put something.
template <class Number, int num_stages, int size>
struct TangentSources {
    Vec<Number, size> of[num_stages]{};

    /// The entries of parameters [first, last), of which value(stage, entry) is known: put(source, value, column).
    template <class Columns, class Value, class Put>
    void set(const Columns& columns, int first, int last, const Value& value, const Put& put) {
        for (int e = columns.begin[first]; e < columns.begin[last]; ++e) {
            for (int i = 0; i < num_stages; ++i)
                put(of[i][columns.row[e]], value(i, columns.entry[e]), columns.column[e]);
        }
    }
    template <class Columns>
    void clear(const Columns& columns, int first, int last) {
        for (int e = columns.begin[first]; e < columns.begin[last]; ++e) {
            for (int i = 0; i < num_stages; ++i) of[i][columns.row[e]] = Number(0);
        }
    }
};

}  // namespace eddy::inline v0::detail
