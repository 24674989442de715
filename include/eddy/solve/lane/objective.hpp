#pragma once
// What is made of the state at a save point: the state itself, a function of it, or a term of a
// loss. Each is a traced program of (t, y, p, data), evaluated for a single lane, with its
// pullback.
// Test: tests/solve/loss_outcomes.cpp, tests/solve/oracle_gradients.cpp

#include <eddy/ad/vjp.hpp>
#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/lane/ending.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/passes/leave_out_missing.hpp>

namespace eddy::inline v0::detail {

/// One row of data, shared by all lanes where there is only one.
template <class Real>
struct DataRow {
    EnsembleView<const Real> data;
    Row row;

    [[nodiscard]] EDDY_HD Real operator[](int i) const {
        return data(data.num_lanes == 1 ? 0 : to_index(row), i);
    }
};

/// Are all components numbers, tangents aside?
template <class Lane, int size>
[[nodiscard]] EDDY_HD bool is_finite(const Vec<Lane, size>& values) {
    for (int i = 0; i < size; ++i) {
        if (!is_number(primal(values[i]))) return false;
    }
    return true;
}

/// The state as it is.
template <class Field>
struct StateObservable {
    static constexpr int num_outputs = Field::state_size;

    template <class Lane, class Parameters, class Data>
    EDDY_HD static Vec<Lane, num_outputs> value(const auto&, const Vec<Lane, Field::state_size>& y,
                                                const Parameters&, const Data&) {
        return y;
    }
    template <class Lane, class Parameters, class Data, class AddToP>
    EDDY_HD static Vec<Lane, Field::state_size> pullback(const auto&,
                                                         const Vec<Lane, Field::state_size>&,
                                                         const Parameters&, const Data&,
                                                         const Vec<Lane, num_outputs>& cotangent,
                                                         AddToP&&, Lane&) {
        return cotangent;
    }
};

/// A traced function of (t, y, p) or of (t, y, p, data).
template <class Field, class ObjectiveProgram>
struct TracedObjective {
    using Program = ObjectiveProgram;
    static constexpr int num_outputs = ObjectiveProgram::graph.outputs[0].size;
    static constexpr bool reads_parameters = reads_argument(ObjectiveProgram::graph, 2);

    template <class Lane, class Parameters, class Data>
    EDDY_HD static Vec<Lane, num_outputs> value(const auto& t,
                                                const Vec<Lane, Field::state_size>& y,
                                                const Parameters& p, const Data& data) {
        Vec<Lane, num_outputs> result{};
        const auto sink = [&]<int output>(int i, const Lane& value) { result[i] = value; };
        run<ObjectiveProgram, Lane>(sink, t, y, p, data);
        return result;
    }

    /// The cotangent of y; hands those of p to add_to_p(i, value) and adds that of t.
    template <class Lane, class Parameters, class Data, class AddToP>
    EDDY_HD static Vec<Lane, Field::state_size> pullback(const auto& t,
                                                         const Vec<Lane, Field::state_size>& y,
                                                         const Parameters& p, const Data& data,
                                                         const Vec<Lane, num_outputs>& cotangent,
                                                         AddToP&& add_to_p, Lane& t_cotangent) {
        using Pullback = decltype(pullback_program());
        Vec<Lane, Field::state_size> y_cotangent{};
        const auto sink = [&]<int output>(int i, const Lane& value) {
            if constexpr (output == 0)
                t_cotangent = t_cotangent + value;
            else if constexpr (output == 1)
                y_cotangent[i] = value;
            else
                add_to_p(i, value);
        };
        if constexpr (ObjectiveProgram::graph.outputs[0].is_scalar)
            run<Pullback, Lane>(sink, t, y, p, data, cotangent[0]);
        else
            run<Pullback, Lane>(sink, t, y, p, data, cotangent);
        return y_cotangent;
    }

  private:
    /// The function or its pullback, given data if it takes any.
    template <class Which, class Lane, class Data, class... OfResult>
    EDDY_HD static void run(const auto& sink, const auto& t, const auto& y, const auto& p,
                            [[maybe_unused]] const Data& data, const OfResult&... of_result) {
        if constexpr (ObjectiveProgram::code.num_arguments() == 4)
            evaluate<Which, Lane>(sink, t, y, p, data, of_result...);
        else
            evaluate<Which, Lane>(sink, t, y, p, of_result...);
    }
    /// The pullback, of which only one form is named: with many parameters that the function does not read there
    /// would be as many zeros, for the compiler as well.
    static consteval auto pullback_program() {
        if constexpr (reads_parameters)
            return vjp<0, 1, 2>(ObjectiveProgram{});
        else
            return vjp<0, 1>(ObjectiveProgram{});
    }
};

template <class Field, class Function>
struct Observable {
    using Traced = decltype(trace<Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>(
        Function{}));
    using type = TracedObjective<Field, Traced>;
};
template <class Field>
struct Observable<Field, void> {
    using type = StateObservable<Field>;
};
/// What a solve saves.
template <class Field, class Function>
using ObservableOf = typename Observable<Field, Function>::type;

/// Numbers of data at a save point: a loss says so by `data_size`, or has one for each component.
template <class Field, class Loss>
inline constexpr int data_size_of = static_cast<int>(Field::state_size);
template <class Field, class Loss>
requires requires { Loss::data_size; }
inline constexpr int data_size_of<Field, Loss> = static_cast<int>(Loss::data_size);

template <class Field, class Loss>
inline constexpr bool takes_data =
    is_traceable<Loss, Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>,
                 Vector<data_size_of<Field, Loss>>>;
template <class Field, class Loss>
inline constexpr bool takes_no_data =
    is_traceable<Loss, Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>;

template <class Field, class Loss, bool with_data>
struct LossProgram {
    using type = decltype(trace<Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>,
                                Vector<data_size_of<Field, Loss>>>(Loss{}));
};
template <class Field, class Loss>
struct LossProgram<Field, Loss, false> {
    using type =
        decltype(trace<Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>(Loss{}));
};

template <class Field, class Loss>
struct LossTerm {
    using Traced = typename LossProgram<Field, Loss, takes_data<Field, Loss>>::type;
    using type = TracedObjective<Field, Traced>;

    static consteval bool returns_one_number() {
        if constexpr (!std::is_void_v<Traced>) {
            static_assert(Traced::graph.outputs[0].size == 1,
                          "loss: loss(t, y, p, data) must return one number");
            return Traced::graph.outputs[0].size == 1;
        }
        return false;
    }
};
/// A loss without the terms whose data are missing.
template <class LossFunction>
struct WithoutMissing {
    static constexpr Graph make() {
        return passes::leave_out_missing(LossFunction::graph.thaw(), 3);
    }
};
template <class Field, class Loss, class Data>
struct LossTermFor {
    using type = typename LossTerm<Field, Loss>::type;
};
template <class Field, class Loss, class Arrays>
struct LossTermFor<Field, Loss, MissingAsNan<Arrays>> {
    using type =
        TracedObjective<Field, Program<WithoutMissing<typename LossTerm<Field, Loss>::Traced>>>;
};
/// What a loss adds at a save point, of these data.
template <class Field, class Loss, class Data = NoData>
using LossTermOf = typename LossTermFor<Field, Loss, Data>::type;

}  // namespace eddy::inline v0::detail
