// Inputs of an equation: from values at knots to pieces of polynomials, and back from cotangents.

#include <algorithm>
#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/input_plan.hpp>
#include <limits>
#include <span>
#include <string>

namespace eddy::inline v0::detail {

namespace {

using Numbers = std::vector<double>;

/// One row of the inputs, or that of all.
class InputRow {
  public:
    InputRow(const Inputs& inputs, const InputUse& use, std::ptrdiff_t row)
        : inputs_(inputs), use_(use), row_(row), knots_(inputs.knots.values) {
        if (!inputs.knots.is_own) return;
        const OwnTimes& own = inputs.knots.own;
        std::ptrdiff_t count = own.num_times;
        while (count > 0 && std::isnan(own(row, count - 1))) --count;
        knots_ = std::span(own.values)
                     .subspan(static_cast<std::size_t>(row * own.num_times),
                              static_cast<std::size_t>(count));
    }

    [[nodiscard]] std::span<const double> knots() const { return knots_; }
    [[nodiscard]] std::size_t num_pieces() const {
        return inputs_.pieces == InputPieces::constant ? knots_.size() : knots_.size() - 1;
    }
    [[nodiscard]] std::size_t piece_at(double t) const {
        const auto after = std::upper_bound(knots_.begin(), knots_.end(), t) - knots_.begin();
        const auto piece = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0));
        return std::min(piece, num_pieces() - 1);
    }

    void require_knots(const char* where) const {
        const std::size_t least = inputs_.pieces == InputPieces::constant ? 1 : 2;
        require_argument(knots_.size() >= least, "{}: inputs of {} knots{}; give at least {}",
                         where, knots_.size(), whose(), least);
        for (std::size_t k = 0; k < knots_.size(); ++k) {
            if (std::isfinite(knots_[k]) && (k == 0 || knots_[k] > knots_[k - 1])) continue;
            require_argument(std::isfinite(knots_[k]),
                             "{}: knot {} of the inputs{} is {}; give finite times, and NaN at the "
                             "end of a row only",
                             where, k, whose(), knots_[k]);
            require_argument(false,
                             "{}: knot {} of the inputs{} is {} after {}; give knots that increase",
                             where, k, whose(), knots_[k], k == 0 ? 0. : knots_[k - 1]);
        }
    }
    void require_values(const char* where) const {
        require_values(inputs_.values, "values", where);
        if (inputs_.slopes.is_given) require_values(inputs_.slopes, "slopes", where);
    }

    /// Calls put(piece, power, component, coefficient).
    template <class Put>
    void make(InputRoom& room, const Put& put) const {
        for (int i = 0; i < use_.size; ++i) {
            take_column(inputs_.values, i, room.x);
            take_slopes(i, room);
            const Numbers &x = room.x, &m = room.m;
            for (std::size_t k = 0; k < num_pieces(); ++k) {
                put(k, 0, i, x[k]);
                if (inputs_.pieces == InputPieces::constant) continue;
                const double h = knots_[k + 1] - knots_[k], delta = (x[k + 1] - x[k]) / h;
                if (inputs_.pieces == InputPieces::linear) {
                    put(k, 1, i, delta);
                    continue;
                }
                put(k, 1, i, m[k]);
                put(k, 2, i, (3 * delta - 2 * m[k] - m[k + 1]) / h);
                put(k, 3, i, (m[k] + m[k + 1] - 2 * delta) / (h * h));
            }
        }
    }
    /// The other way round: take(piece, power, component) are cotangents, add(knot, component, value) receives those
    /// of the values.
    template <class Take, class Add>
    void pull(InputRoom& room, const Take& take, const Add& add) const {
        const std::size_t count = knots_.size();
        Numbers &of_x = room.x, &of_m = room.m, &of_delta = room.delta;
        for (int i = 0; i < use_.size; ++i) {
            for (Numbers* numbers : {&of_x, &of_m, &of_delta}) numbers->assign(count, 0);
            for (std::size_t k = 0; k < num_pieces(); ++k) {
                of_x[k] += take(k, 0, i);
                if (inputs_.pieces == InputPieces::constant) continue;
                if (inputs_.pieces == InputPieces::linear) {
                    of_delta[k] += take(k, 1, i);
                    continue;
                }
                const double h = knots_[k + 1] - knots_[k];
                const double of_c = take(k, 2, i) / h, of_d = take(k, 3, i) / (h * h);
                of_m[k] += take(k, 1, i) - 2 * of_c + of_d;
                of_m[k + 1] += of_d - of_c;
                of_delta[k] += 3 * of_c - 2 * of_d;
            }
            if (inputs_.pieces == InputPieces::spline)
                pull_spline(room);
            else if (inputs_.pieces == InputPieces::cubic && !inputs_.slopes.is_given)
                for (std::size_t k = 0; k < count; ++k) of_delta[k == 0 ? 0 : k - 1] += of_m[k];
            for (std::size_t k = 0; k + 1 < count; ++k) {
                const double slope = of_delta[k] / (knots_[k + 1] - knots_[k]);
                of_x[k + 1] += slope;
                of_x[k] -= slope;
            }
            for (std::size_t k = 0; k < count; ++k) add(k, i, of_x[k]);
        }
    }

  private:
    [[nodiscard]] std::string whose() const {
        return inputs_.knots.is_own ? compose(" of trajectory {}", row_) : std::string();
    }
    [[nodiscard]] std::ptrdiff_t num_knots() const {
        return inputs_.knots.is_own ? inputs_.knots.own.num_times
                                    : static_cast<std::ptrdiff_t>(inputs_.knots.values.size());
    }
    void require_values(const KnotValues& values, const char* name, const char* where) const {
        const std::ptrdiff_t wanted = num_knots() * use_.size;
        const bool fits_knots = values.num_knots == 0 || values.num_knots == num_knots();
        require_argument(values.rows.num_times == wanted && fits_knots,
                         "{}: {} of the inputs are {} numbers for each trajectory; there are {} "
                         "knots of {} components: give (knot, component), or each(array) of "
                         "(trajectory, knot * component)",
                         where, name, values.rows.num_times, num_knots(), use_.size);
        for (std::size_t k = 0; k < knots_.size(); ++k) {
            for (int i = 0; i < use_.size; ++i) {
                const double value = at(values, k, i);
                if (std::isfinite(value)) continue;
                require_argument(false,
                                 "{}: {} of the inputs{} are {} at knot {}, component {}; give "
                                 "finite numbers: fill what is missing before",
                                 where, name,
                                 values.is_own ? compose(" of trajectory {}", row_) : std::string(),
                                 value, k, i);
            }
        }
    }
    [[nodiscard]] double at(const KnotValues& values, std::size_t knot, int i) const {
        return values.rows(values.is_own ? row_ : 0,
                           static_cast<std::ptrdiff_t>(knot) * use_.size + i);
    }
    void take_column(const KnotValues& values, int i, Numbers& column) const {
        column.resize(knots_.size());
        for (std::size_t k = 0; k < knots_.size(); ++k) column[k] = at(values, k, i);
    }
    [[nodiscard]] double length(std::size_t k) const { return knots_[k + 1] - knots_[k]; }

    /// The slopes at the knots, where pieces are cubic, into m.
    void take_slopes(int i, InputRoom& room) const {
        const Numbers& x = room.x;
        const auto delta = [&](std::size_t k) { return (x[k + 1] - x[k]) / length(k); };
        Numbers& m = room.m;
        if (inputs_.pieces == InputPieces::cubic && inputs_.slopes.is_given) {
            take_column(inputs_.slopes, i, m);
        } else if (inputs_.pieces == InputPieces::cubic) {
            m.resize(x.size());
            for (std::size_t k = 0; k < x.size(); ++k) m[k] = delta(k == 0 ? 0 : k - 1);
        } else if (inputs_.pieces == InputPieces::spline) {
            m.assign(x.size(), 0);
            for (std::size_t k = 0; k + 1 < x.size(); ++k) {
                m[k] += 3 * delta(k) / length(k);
                m[k + 1] += 3 * delta(k) / length(k);
            }
            solve_spline(room);
        }
    }
    /// Solves for the slopes m of a natural spline: a symmetric tridiagonal system, whose rows say that the second
    /// derivatives on both sides of a knot are equal (de Boor 2001, A Practical Guide to Splines, chapter IV).
    void solve_spline(InputRoom& room) const {
        Numbers &m = room.m, &diagonal = room.diagonal;
        const std::size_t count = m.size();
        diagonal.assign(count, 0);
        for (std::size_t k = 0; k + 1 < count; ++k) {
            diagonal[k] += 2 / length(k);
            diagonal[k + 1] += 2 / length(k);
        }
        for (std::size_t k = 1; k < count; ++k) {
            const double factor = 1 / (length(k - 1) * diagonal[k - 1]);
            diagonal[k] -= factor / length(k - 1);
            m[k] -= factor * m[k - 1];
        }
        for (std::size_t k = count; k-- > 0;) {
            if (k + 1 < count) m[k] -= m[k + 1] / length(k);
            m[k] /= diagonal[k];
        }
    }
    void pull_spline(InputRoom& room) const {
        solve_spline(room);
        for (std::size_t k = 0; k + 1 < room.m.size(); ++k)
            room.delta[k] += 3 * (room.m[k] + room.m[k + 1]) / length(k);
    }

    const Inputs& inputs_;
    InputUse use_;
    std::ptrdiff_t row_;
    std::span<const double> knots_;
};

/// How many rows differ.
[[nodiscard]] std::ptrdiff_t num_rows(const Inputs& inputs) {
    std::ptrdiff_t rows = 1;
    if (inputs.knots.is_own) rows = inputs.knots.own.num_lanes;
    for (const KnotValues* values : {&inputs.values, &inputs.slopes})
        if (values->is_own) rows = values->rows.num_lanes;
    return rows;
}
[[nodiscard]] std::ptrdiff_t most_pieces(const Inputs& inputs) {
    const auto knots = inputs.knots.is_own
                           ? inputs.knots.own.num_times
                           : static_cast<std::ptrdiff_t>(inputs.knots.values.size());
    return inputs.pieces == InputPieces::constant ? knots : knots - 1;
}
/// Steps may pass over knots at which what f reads does not jump.
void require_passable(const Inputs& inputs, const InputUse& use, const char* where) {
    if (!use.passes_knots) return;
    require_argument(inputs.pieces != InputPieces::constant,
                     "{}: inputs that jump at knots, but the equation says that they are smooth; "
                     "leave its member input_is_smooth out, or give continuous inputs",
                     where);
    require_argument(inputs.pieces != InputPieces::linear || !use.reads_slopes,
                     "{}: inputs whose slopes jump at knots, but the equation, which reads these, "
                     "says that they are smooth; leave its member input_is_smooth out, or give "
                     "cubic inputs",
                     where);
}
/// The number of a coefficient in a row.
[[nodiscard]] std::ptrdiff_t place_of(const InputUse& use, std::size_t piece, int power, int i) {
    return static_cast<std::ptrdiff_t>(piece) * use.room + 1 + power * use.size + i;
}

/// Behind the last piece of a row that has fewer than others no time lies.
template <class Real>
void fill_up(const Inputs& inputs, const InputUse& use, EnsembleArray<Real>& coefficients) {
    for (std::ptrdiff_t row = 0; row < coefficients.rows(); ++row) {
        const auto count = InputRow(inputs, use, row).num_pieces();
        for (auto piece = static_cast<std::ptrdiff_t>(count); piece < most_pieces(inputs); ++piece)
            coefficients(row, piece * use.room) = std::numeric_limits<Real>::infinity();
    }
}

}  // namespace

void require_inputs_of(const Inputs& inputs, std::ptrdiff_t num_lanes, const char* where) {
    const auto require = [&](bool is_own, const OwnTimes& rows, const char* name) {
        require_argument(!is_own || rows.num_lanes == num_lanes,
                         "{}: {} of the inputs have a row for each of {} trajectories, but there "
                         "are {}; give each(...) a row for each trajectory",
                         where, name, rows.num_lanes, num_lanes);
    };
    require(inputs.knots.is_own, inputs.knots.own, "knots");
    require(inputs.values.is_own, inputs.values.rows, "values");
    require(inputs.slopes.is_own, inputs.slopes.rows, "slopes");
}

template <class Real>
void renew_inputs(const Inputs& inputs, const InputUse& use, InputPlan<Real>& plan,
                  const char* where) {
    for (std::ptrdiff_t row = 0; row < plan.coefficients.rows(); ++row) {
        const InputRow of_row(inputs, use, row);
        of_row.require_values(where);
        for (std::size_t k = 0; k < of_row.num_pieces(); ++k)
            plan.coefficients(row, static_cast<std::ptrdiff_t>(k) * use.room) =
                static_cast<Real>(of_row.knots()[k]);
        of_row.make(plan.room, [&](std::size_t piece, int power, int i, double value) {
            plan.coefficients(row, place_of(use, piece, power, i)) = static_cast<Real>(value);
        });
    }
}

template <class Real>
InputPlan<Real> plan_inputs(const Inputs& inputs, const InputUse& use, const TimePlan& times,
                            const char* where) {
    require_argument(bool(inputs),
                     "{}: the equation reads {} inputs, but there are none; give .inputs = "
                     "piecewise_linear(knots, values)",
                     where, use.size);
    InputPlan<Real> plan;
    require_argument(inputs.degree() <= use.degree,
                     "{}: inputs of degree {}, but the equation reads pieces of degree {}; leave "
                     "its member input_degree out, or give other inputs",
                     where, inputs.degree(), use.degree);
    require_passable(inputs, use, where);
    const std::ptrdiff_t rows = num_rows(inputs);
    for (std::ptrdiff_t row = 0; row < rows; ++row) InputRow(inputs, use, row).require_knots(where);
    plan.coefficients.assign(rows, most_pieces(inputs) * use.room, Real(0));
    fill_up(inputs, use, plan.coefficients);
    renew_inputs(inputs, use, plan, where);
    // Between two tstops there is no knot that steps do not pass over.
    const std::size_t time_rows =
        times.num_tstops == 0 ? 0 : times.tstops.size() / times.num_tstops;
    for (std::size_t row = 0; row < time_rows; ++row) {
        const double t0 = times.is_own ? times.own[row].t0 : times.t0;
        const InputRow of_row(inputs, use, static_cast<std::ptrdiff_t>(row));
        double before = 0;
        for (std::size_t j = 0; j < times.num_tstops; ++j) {
            const double here = times.tstops[row * times.num_tstops + j].elapsed;
            const double within = use.passes_knots ? before : before + (here - before) / 2;
            plan.pieces.push_back(
                static_cast<std::int32_t>(of_row.piece_at(t0 + times.direction * within)));
            before = here;
        }
    }
    return plan;
}

template <class Real>
void pull_inputs(const Inputs& inputs, const InputUse& use,
                 const EnsembleArray<Real>& of_coefficients, InputRoom& room,
                 EnsembleArray<Real>& of_values) {
    if (!inputs) return of_values.assign(0, 0, Real(0));
    const std::ptrdiff_t lanes = of_coefficients.rows(), columns = inputs.values.rows.num_times;
    const bool is_own = inputs.values.is_own;
    of_values.assign(is_own ? lanes : columns / use.size, is_own ? columns : use.size, Real(0));
    Numbers& sums = room.sums;
    sums.assign(static_cast<std::size_t>(is_own ? 0 : columns), 0);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const auto take = [&](std::size_t piece, int power, int i) {
            return static_cast<double>(of_coefficients(lane, place_of(use, piece, power, i)));
        };
        const auto add = [&](std::size_t knot, int i, double value) {
            const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(knot) * use.size + i;
            if (is_own)
                of_values(lane, column) = static_cast<Real>(value);
            else
                sums[static_cast<std::size_t>(column)] += value;
        };
        InputRow(inputs, use, lane).pull(room, take, add);
    }
    for (std::size_t column = 0; column < sums.size(); ++column)
        of_values(static_cast<std::ptrdiff_t>(column) / use.size,
                  static_cast<std::ptrdiff_t>(column) % use.size) = static_cast<Real>(sums[column]);
}

template decltype(plan_inputs<float>) plan_inputs<float>;
template decltype(renew_inputs<float>) renew_inputs<float>;
template decltype(pull_inputs<float>) pull_inputs<float>;
template decltype(plan_inputs<double>) plan_inputs<double>;
template decltype(renew_inputs<double>) renew_inputs<double>;
template decltype(pull_inputs<double>) pull_inputs<double>;

}  // namespace eddy::inline v0::detail
