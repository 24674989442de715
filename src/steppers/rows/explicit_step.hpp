#pragma once
// An attempt of an explicit method as one program, and its adjoint: all stages of a small equation with the sums
// between them, which are more than f itself. Operations and bits are those of stages asked for one by one.
// Test: tests/backends/row_solve.cpp, tests/backends/row_gradient.cpp

#include <eddy/steppers/rows/method_on_rows.hpp>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_program.hpp>
#include <optional>

#include "../../ad/rows/equation_program.hpp"

namespace eddy::inline v0::detail {

/// The programs of a tile, which keeps them.
template <class Real>
class ExplicitStepOnTile final : public TileGuest {
  public:
    ExplicitStepOnTile(const EquationProgram& field, const MethodOnRows& method, int width)
        : field_(field), method_(method), width_(width) {}

    [[nodiscard]] const MethodOnRows& method() const { return method_; }

    struct Reads {
        const Real *times, *y, *p, *h;  // times: of the stages
    };
    /// y⁺, the errors and all stages but the first, which is known. Or with the first, where states and residuals of the
    /// first `num_kept` stages are `kept`: of those that y⁺ needs, or of all. Where nobody asks for stages, the one that
    /// is carried along is the only one that it leaves.
    void attempt(const Reads& from, Real* next, Real* errors, Real* const* k, Real* kept,
                 int num_kept, bool leaves_stages);
    /// From the cotangent of y⁺ to that of y; adds to that of p. In the place of y is what was kept; or y itself, where an
    /// equation keeps states alone: these are then computed again.
    void pull(const Reads& from, bool is_kept, const Real* next_cotangent, Real* cotangent,
              Real* of_p);
    [[nodiscard]] std::int64_t num_bytes() const override;

  private:
    enum Kind {
        plain,
        ends_alone,
        keeps_needed,
        keeps_alone,
        keeps_all,
        back,
        back_from_start,
        num_kinds
    };
    void run(Kind kind, const Real* const* blocks);
    [[nodiscard]] ProgramCode list(Kind kind) const;

    const EquationProgram& field_;
    const MethodOnRows& method_;
    int width_;
    std::optional<RowProgramOf<Real>> programs_[num_kinds];
};
/// Those of a tile, where an attempt is short enough for them to be faster. Null: there are none. To make them takes as
/// long as some thousand steps of a trajectory: only where it is to be `at_once` has the first tile of an equation any.
template <class Real>
[[nodiscard]] ExplicitStepOnTile<Real>* step_on(FieldOnTileOf<Real>& tile,
                                                const MethodOnRows& method, bool at_once);
/// Is an attempt of solves longer than those, and gains as well, by the vectors of this processor? `field`: its program,
/// if any.
[[nodiscard]] bool gains_by_long_step(const Graph* field, const MethodOnRows& method);
/// Those are made once that many attempts were made without that it is worth it: where they are counted, by whoever makes
/// them. Null: there will be none.
template <class Real>
[[nodiscard]] std::atomic<std::int64_t>* attempts_before_step(FieldOnTileOf<Real>& tile,
                                                              const MethodOnRows& method);
/// Null before; then those of a tile of that equation. Asked at each attempt.
template <class Real>
[[nodiscard]] ExplicitStepOnTile<Real>* long_step_on(FieldOnTileOf<Real>& tile,
                                                     const MethodOnRows& method,
                                                     const std::atomic<std::int64_t>& attempts);
/// The same for pullbacks alone, which are faster of longer attempts, too, of several lanes. To make these takes as long
/// as the first group of lanes does: the first tile of an equation has them from its second one on (`has_worked`).
template <class Real>
[[nodiscard]] ExplicitStepOnTile<Real>* step_back_on(FieldOnTileOf<Real>& tile,
                                                     const MethodOnRows& method, bool has_worked);

}  // namespace eddy::inline v0::detail
