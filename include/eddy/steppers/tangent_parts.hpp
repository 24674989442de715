#pragma once
// What tangents in many directions need of Jacobians, whatever the method: products with their structural non-zeros, and
// what comes from the parameters, of which a direction has one.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/ad/jacobians.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/steppers/stage_time.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// The stages of a step, or what its systems have for solutions, and its end: of states, or of tangents.
template <class Number, int num_stages, int size>
struct TakenStages {
    Vec<Number, size> k[num_stages];
    Vec<Number, size> next;
};

/// What the step of one place starts from, where its stages are evaluated together, each in a place of a Number: `p` is that
/// of the place, in all of them.
template <class Number, class Times, int size, class Parameters, class Size>
struct StepOfPlace {
    struct At {
        const Times& of_places;
        int place;
        [[nodiscard]] auto at_fraction(double c) const {
            return get_lane(of_places.at_fraction(c), place);
        }
        using OfPlaces = decltype(std::declval<Times>().at_fraction(0.));
    };
    At t;
    const Vec<LaneOf<Number>, size>& y;
    const Parameters& p;
    const Size& dt;
};

/// The entries of Jacobians, of one place.
template <class Jacobians, class Number, class Lane>
void take_entries(const typename Jacobians::template Values<Number>& of_places, int place,
                  typename Jacobians::template Values<Lane>& of_place) {
    for (int e = 0; e < Jacobians::num_of_y; ++e)
        of_place.by_y[e] = get_lane(of_places.by_y[e], place);
    for (int e = 0; e < Jacobians::num_of_p; ++e)
        of_place.by_p[e] = get_lane(of_places.by_p[e], place);
}

/// Products with ∂f/∂y.
template <class Jacobians>
struct TangentProducts {
    /// The entries, as one text for all stages.
    template <class Values, class... Arguments>
    [[gnu::noinline]] static void evaluate_at(Values& values, const Arguments&... arguments) {
        Jacobians::evaluate_into(values, arguments...);
    }
    /// Evaluates entries at the stages of a step, one after another; `finish` when there are no more.
    template <class Input>
    struct AtStages {
        const Input& in;
        template <class Values, class Time, class State>
        void add(Values& values, const Time& t, const State& y) const {
            evaluate_at(values, t, y, in.p);
        }
        void finish() const {}
    };
    template <class Number, class Times, int size, class Parameters, class Size>
    class AtStages<StepOfPlace<Number, Times, size, Parameters, Size>> {
        using Input = StepOfPlace<Number, Times, size, Parameters, Size>;
        using Lane = LaneOf<Number>;
        static constexpr int places = num_lanes_of<Number>;

      public:
        explicit AtStages(const Input& in) : in_(in) {}
        void add(typename Jacobians::template Values<Lane>& values, double t,
                 const Vec<Lane, size>& y) {
            // The first one everywhere, for nobody knows what a field makes of numbers that are no state.
            for (int place = count_; place < (count_ == 0 ? places : count_ + 1); ++place) {
                set_lane(t_, place, t);
                for (int i = 0; i < size; ++i) set_lane(y_[i], place, y[i]);
            }
            to_[count_++] = &values;
            if (count_ == places) finish();
        }
        void finish() {
            if (count_ == 0) return;
            typename Jacobians::template Values<Number> together;
            evaluate_at(together, t_, y_, in_.p);
            for (int place = 0; place < count_; ++place)
                take_entries<Jacobians, Number, Lane>(together, place, *to_[place]);
            count_ = 0;
        }

      private:
        const Input& in_;
        typename Input::At::OfPlaces t_;
        Vec<Number, size> y_;
        typename Jacobians::template Values<Lane>* to_[places];
        int count_ = 0;
    };
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
/// Of the field itself, by the Jacobians at the stages, `slopes` of a linearization.
template <class Jacobians, class Field, class Number, int num_stages>
struct FieldSources : TangentSources<Number, num_stages, Field::state_size> {
    void take(const auto& of_step, int first, int last, const auto& put) {
        if constexpr (Jacobians::num_of_p > 0)
            this->set(
                columns_of_p<Jacobians, Field>, first,
                last, [&](int i, int e) -> const auto& { return of_step.slopes[i].by_p[e]; }, put);
    }
    void leave(int first, int last) {
        if constexpr (Jacobians::num_of_p > 0)
            this->clear(columns_of_p<Jacobians, Field>, first, last);
    }
};

}  // namespace eddy::inline v0::detail
