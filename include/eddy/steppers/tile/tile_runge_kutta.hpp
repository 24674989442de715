#pragma once
// A step of an explicit Runge–Kutta method for all lanes of a tile, and its discrete adjoint: the sums of
// explicit_rk.hpp over blocks of rows, with the field as a program on tiles. What the way back needs of
// the field, its stage states and residuals, is kept while stages are computed, so that it computes
// nothing twice. Each lane has the bits that the step of a single lane has.
// Test: tests/solve/tiles_oracle.cpp

#include <algorithm>
#include <eddy/ad/linearize.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <eddy/steppers/tile/tile_cotangents.hpp>
#include <eddy/steppers/tile/tile_sums.hpp>
#include <eddy/trace/tile/tile_evaluate.hpp>

namespace eddy::inline v0::detail {

/// The steps of the lanes of a tile: when they begin and end, and their sizes, (lane). A lane that makes
/// no step has size zero.
template <class Real>
struct TileInterval {
    int width = 0;
    double* first = nullptr;
    double* last = nullptr;
    Real* h = nullptr;
};

/// What the way back is not to compute again: what a chain of elementwise operations does on its way is
/// cheaper than a row that comes back from beyond the caches.
struct KeepsWhatIsDear {
    constexpr eddy::Saving operator()(const Candidate& value) const {
        const Op op = value.op;
        const bool is_cheap = (op >= Op::add && op <= Op::mul) || op == Op::neg ||
                              (op >= Op::fma && op <= Op::neg_mul_add) ||
                              (op >= Op::abs && op <= Op::floor) ||
                              (op >= Op::relu && op <= Op::barrier) || op == Op::slice ||
                              op == Op::concat || op == Op::broadcast;
        return save_if(!is_cheap);
    }
};

template <class Field, RungeKuttaMethod Method, class Real>
class TileRungeKutta {
  public:
    using Steps = ExplicitRungeKutta<Field, Method>;
    using Rows = typename Steps::Rows;
    static constexpr int state_size = Field::state_size;
    static constexpr int num_stages = Steps::num_stages;
    static constexpr int num_error_stages = Steps::num_error_stages;
    static constexpr int num_dense_stages = Steps::num_dense_stages;

  private:
    using FieldOnTile = TileProgram<FieldProgram<Field>, Real>;
    using Halves = DifferentiableProgram<FieldProgram<Field>, KeepsWhatIsDear, 1, 2>;
    using Forward = TileProgram<typename Halves::Forward, Real>;
    using Backward = TileProgram<typename Halves::Backward, Real, 1>;
    static constexpr bool reads_time = reads_argument(FieldProgram<Field>::code, 0);

  public:
    static constexpr int num_residuals = Halves::num_residuals;
    static constexpr int num_outer_rows = Backward::num_outer_rows;
    /// Rows that a stage keeps for the way back: its state, then the residuals.
    static constexpr int rows_per_stage = state_size + num_residuals;
    /// The longest vector of all programs: what decides how wide a tile may be.
    template <bool with_gradient>
    static constexpr int longest = [] {
        int most = std::max(state_size, longest_vector(FieldProgram<Field>::code));
        if constexpr (with_gradient) most = std::max(most, longest_vector(Halves::Backward::code));
        return most;
    }();

    TileRungeKutta() = default;
    /// Takes what it works in; `p` is one row of numbers for all lanes, or rows of the tile.
    template <class Arena, bool with_gradient>
    void lay_out(Arena& arena, int width, std::bool_constant<with_gradient>) {
        const auto rows = [&](std::int64_t count) {
            return arena.template take<Real>(count * width);
        };
        constexpr int scratch_rows =
            with_gradient ? std::max({FieldOnTile::num_rows, Forward::num_rows, Backward::num_rows})
                          : FieldOnTile::num_rows;
        scratch_ = rows(scratch_rows);
        time_ = rows(1);
        stage_ = rows(state_size);
        for (Real*& k : k_) k = rows(state_size);
        if constexpr (with_gradient) {
            k_cotangent_ = rows(state_size);
            for (Real*& cotangent : stage_cotangent_) cotangent = rows(state_size);
        }
    }
    void set_parameters(const TileVector<Real>& p) { p_ = p; }

    [[nodiscard]] Real* k(int stage) const { return k_[stage]; }

    /// Computes k_i for i in [first, last) from those before. Where `kept` is given, what the way back
    /// needs of each goes to kept + i · rows_per_stage · width.
    template <int first, int last>
    void stages(const TileInterval<Real>& in, const Real* y, Real* kept = nullptr) {
        static_for<first, last>([&]<int i>() { stage<i>(in, y, kept); });
    }
    /// k_0 at the start of a step, into `to`.
    void first_stage(const TileInterval<Real>& in, const Real* y, Real* to) {
        set_time<0>(in);
        typename FieldOnTile::Call call{
            in.width, {time(in.width), rows_of(y, in.width), p_}, {to}, scratch_};
        FieldOnTile::run(call);
    }
    /// The same at given times, (lane), of any state: for the first size of a step.
    void derivative(const double* times, int width, const Real* y, Real* to) {
        for (int lane = 0; lane < width; ++lane) time_[lane] = static_cast<Real>(times[lane]);
        typename FieldOnTile::Call call{
            width, {time(width), rows_of(y, width), p_}, {to}, scratch_};
        FieldOnTile::run(call);
    }

    void next_state(const TileInterval<Real>& in, const Real* y, Real* to) const {
        const auto terms =
            terms_of<count_terms<num_stages>([](int i) { return Rows::tableau.b[i]; })>(
                num_stages, [](int i) { return Rows::tableau.b[i]; }, k_);
        add_steps(to, state_size, in.width, in.h, terms,
                  [&](std::ptrdiff_t at, const auto&)
                      EDDY_INLINE { return TilePack<Real>::load(y + at); });
    }
    template <bool coarse = false>
    void error(const TileInterval<Real>& in, Real* to) const {
        constexpr auto weight = [](int i) {
            if constexpr (coarse)
                return Method::b_coarse_error[i];
            else
                return Rows::tableau.b_error[i];
        };
        const auto terms =
            terms_of<count_terms<num_error_stages>(weight)>(num_error_stages, weight, k_);
        scale_sum(to, state_size, in.width, in.h, terms);
    }

    /// From the cotangent of y⁺ to that of y; what the step brings to parameters goes to the sink. `kept`
    /// is what stages<0, count> have left. `of_stages`: the stages' own cotangents, (stage) blocks of rows;
    /// null: none.
    template <int count, class Sink>
    void pull(const TileInterval<Real>& in, const Real* kept, Real* const* of_stages,
              const Real* next_cotangent, Real* cotangent, Sink& sink) {
        std::copy_n(next_cotangent, std::ptrdiff_t{state_size} * in.width, cotangent);
        static_for<0, count>([&]<int reversed>() {
            constexpr int i = count - 1 - reversed;
            k_cotangent<i, count>(in, next_cotangent);
            if (of_stages) add_rows(k_cotangent_, state_size, in.width, of_stages[i]);
            sink.begin(reversed, count);
            pull_stage<i>(in, kept, sink);
            add_rows(cotangent, state_size, in.width, stage_cotangent_[i]);
        });
    }

  private:
    /// How many of the weights are not zero.
    template <int size, class Weight>
    static consteval int count_terms(Weight weight) {
        int count = 0;
        for (int i = 0; i < size; ++i) count += weight(i) != 0 ? 1 : 0;
        return count;
    }
    template <int count, class Weight>
    static TileTerms<Real, count> terms_of(int size, Weight weight, Real* const* blocks) {
        TileTerms<Real, count> terms;
        int used = 0;
        for (int i = 0; i < size; ++i) {
            if (weight(i) == 0) continue;
            terms.weight[used] = static_cast<Real>(weight(i));
            terms.x[used++] = blocks[i];
        }
        return terms;
    }

    [[nodiscard]] static TileVector<Real> rows_of(const Real* block, int width) {
        return {block, width, false};
    }
    [[nodiscard]] TileVector<Real> time(int width) const { return {time_, width, false}; }
    /// The time of stage i, as StageTimes has it.
    template <int i>
    void set_time(const TileInterval<Real>& in) {
        if constexpr (reads_time) {
            constexpr double c = Rows::tableau.c[i];
            for (int lane = 0; lane < in.width; ++lane) {
                const double first = in.first[lane], last = in.last[lane];
                const double t = c == 0 ? first : c == 1 ? last : mul_add(c, last - first, first);
                time_[lane] = static_cast<Real>(t);
            }
        }
    }

    template <int i>
    void stage(const TileInterval<Real>& in, const Real* y, Real* kept) {
        Real* const of_stage =
            kept ? kept + std::ptrdiff_t{i} * rows_per_stage * in.width : nullptr;
        Real* const state = of_stage ? of_stage : stage_;
        constexpr auto weight = [](int j) { return j < i ? Rows::tableau.a[i][j] : 0.; };
        const auto terms = terms_of<count_terms<i>(weight)>(i, weight, k_);
        add_steps(state, state_size, in.width, in.h, terms,
                  [&](std::ptrdiff_t at, const auto&)
                      EDDY_INLINE { return TilePack<Real>::load(y + at); });
        set_time<i>(in);
        if (of_stage)
            evaluate_keeping(in.width, state, k_[i]);
        else
            FieldOnTile::run(
                {in.width, {time(in.width), rows_of(state, in.width), p_}, {k_[i]}, scratch_});
    }
    /// f with its residuals, which follow the state.
    void evaluate_keeping(int width, Real* state, Real* to) {
        typename Forward::Call call{
            width, {time(width), rows_of(state, width), p_}, {to}, scratch_};
        if constexpr (num_residuals > 0)
            call.results[1] = state + std::ptrdiff_t{state_size} * width;
        Forward::run(call);
    }

    /// dt (b_i ȳ⁺ + Σ_j a_ji Ȳ_j), the newest last: the sum waits for it.
    template <int i, int count>
    void k_cotangent(const TileInterval<Real>& in, const Real* next_cotangent) {
        constexpr double b = Rows::tableau.b[i];
        // Stage count − 1 first, as in explicit_rk.hpp.
        constexpr auto weight = [](int reversed) {
            const int j = count - 1 - reversed;
            return j > i ? Rows::tableau.a[j][i] : 0.;
        };
        Real* blocks[count];
        for (int reversed = 0; reversed < count; ++reversed)
            blocks[reversed] = stage_cotangent_[count - 1 - reversed];
        const auto terms = terms_of<count_terms<count>(weight)>(count, weight, blocks);
        add_steps(k_cotangent_, state_size, in.width, in.h, terms,
                  [&](std::ptrdiff_t at, const auto& h) EDDY_INLINE {
                      using P = TilePack<Real>;
                      if constexpr (b != 0)
                          return P(static_cast<Real>(b)) * h * P::load(next_cotangent + at);
                      else
                          return P(Real(0));
                  });
    }
    template <int i, class Sink>
    void pull_stage(const TileInterval<Real>& in, const Real* kept, Sink& sink) {
        const Real* const state = kept + std::ptrdiff_t{i} * rows_per_stage * in.width;
        set_time<i>(in);
        // (t, y, p, residuals, cotangent of dy/dt) → cotangents of y and p
        const typename Backward::Call call{
            in.width,
            {time(in.width), rows_of(state, in.width), p_,
             rows_of(state + std::ptrdiff_t{state_size} * in.width, in.width),
             rows_of(k_cotangent_, in.width)},
            {stage_cotangent_[i]},
            scratch_};
        Backward::run(call, sink);
    }

    TileVector<Real> p_;
    Real* scratch_ = nullptr;
    Real* time_ = nullptr;
    Real* stage_ = nullptr;
    Real* k_[num_dense_stages] = {};
    Real* k_cotangent_ = nullptr;
    Real* stage_cotangent_[num_dense_stages] = {};
};

}  // namespace eddy::inline v0::detail
