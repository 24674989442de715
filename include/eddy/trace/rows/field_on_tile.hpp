#pragma once
// A right-hand side whose sizes are numbers: what a method that steps over rows of lanes sees of an
// equation. A tile is `width` lanes; a row is one number of each of them, and rows follow each other
// without gaps: (row, lane). One virtual call is made for a stage and tile, which costs nothing
// beside it.
// Test: tests/trace/rows/field_on_tile.cpp

#include <cstdint>
#include <eddy/trace/input_piece.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

struct Graph;

/// The sizes of a right-hand side.
struct FieldSizes {
    int states = 0;                        ///< components of y, and of its tangents behind them
    int parameters = 0;                    ///< components of p, and of its tangent behind them
    bool reads_time = false;               ///< does f depend on t?
    InputSizes inputs{};                   ///< what it reads of inputs
    int tangents = 0;                      ///< of y; they decide no step
    bool parameters_have_tangent = false;  ///< has p one?

    [[nodiscard]] bool operator==(const FieldSizes&) const = default;
    /// The components of y without its tangents.
    [[nodiscard]] int own_states() const { return states / (1 + tangents); }
    /// The components of p without its tangent.
    [[nodiscard]] int own_parameters() const {
        return parameters_have_tangent ? parameters / 2 : parameters;
    }
};

/// What a tangent of y begins with, and along which parameter it goes: both are given; its start alone; else the number of
/// a component of p.
enum class Direction : int {
    given = -2,    ///< its start and ṗ are given
    of_start = -1  ///< its start is given, and p is constant
};

/// f, forward and pull of one equation over a tile of `width` trajectories, (row, trajectory) each. It is
/// made once for a worker, owns its scratch and is not shared. No block may overlap another. `Real` is float or
/// double.
template <class Real>
class FieldOnTileOf {
  public:
    FieldOnTileOf(const FieldSizes& sizes, int width) : sizes_(sizes), width_(width) {}
    FieldOnTileOf(const FieldOnTileOf&) = delete;
    FieldOnTileOf& operator=(const FieldOnTileOf&) = delete;
    virtual ~FieldOnTileOf() = default;

    /// The components of y.
    [[nodiscard]] int num_states() const { return sizes_.states; }
    /// The components of p.
    [[nodiscard]] int num_parameters() const { return sizes_.parameters; }
    /// All sizes.
    [[nodiscard]] const FieldSizes& sizes() const { return sizes_; }
    /// The trajectories of a row.
    [[nodiscard]] int width() const { return width_; }
    /// False where f does not depend on t.
    [[nodiscard]] bool reads_time() const { return sizes_.reads_time; }
    /// How many rows `forward` leaves for `pull`.
    [[nodiscard]] virtual int num_residuals() const = 0;

    /// dy = f(t, y, p): rows of one time, of the states, of the parameters, of the states. Behind those of the parameters
    /// lie the numbers of a piece of inputs, where the equation reads any; `pull` adds to theirs, too.
    virtual void f(const Real* t, const Real* y, const Real* p, Real* dy) = 0;
    /// The same, and num_residuals() rows in `kept`. The bits of dy are those of `f`.
    virtual void forward(const Real* t, const Real* y, const Real* p, Real* dy, Real* kept) = 0;
    /// From the cotangent c of dy: ybar = J_yᵀ c is written, and J_pᵀ c is added to pbar.
    virtual void pull(const Real* t, const Real* y, const Real* p, const Real* kept, const Real* c,
                      Real* ybar, Real* pbar) = 0;
    /// Has it pull_time? Without it there are no derivatives with respect to times, unless f does not depend on t.
    [[nodiscard]] virtual bool pulls_time() const { return !reads_time(); }
    /// From the cotangent c of dy to that of t, which is written to `tbar`: a row. Only asked for where times are
    /// differentiated with respect to.
    virtual void pull_time(const Real* /*t*/, const Real* /*y*/, const Real* /*p*/,
                           const Real* /*c*/, Real* tbar) {
        for (int lane = 0; lane < width_; ++lane) tbar[lane] = 0;
    }
    /// The equation of one trajectory, on a tile of its own, whose loops give their last state where they run out. Null
    /// where no loop of it can.
    [[nodiscard]] virtual std::unique_ptr<FieldOnTileOf> with_last_states() const {
        return nullptr;
    }
    /// Bytes that it works in, as far as it knows.
    [[nodiscard]] virtual std::int64_t num_bytes() const { return 0; }
    /// Of a tile whose trajectories share p: those whose J_pᵀ c `pull` adds up, in order. They are read by `pull`. Of the
    /// next `num_pulls` calls of it, all for one pbar, the last completes the sums.
    virtual void sum_over(const int* /*trajectories*/, int /*count*/, int /*num_pulls*/) {}

    /// Steps of an implicit method, as an equation of their own (steppers/rows/rosenbrock_on_rows.hpp). Null: it was
    /// brought none.
    [[nodiscard]] FieldOnTileOf* steps() const { return steps_.get(); }
    /// How many rows a step leaves for the way back: of these, or of each evaluation of f.
    [[nodiscard]] int num_kept() const {
        return steps_ ? steps_->num_residuals() : num_residuals();
    }
    /// Takes those that belong to it.
    void bring(std::unique_ptr<FieldOnTileOf> steps) { steps_ = std::move(steps); }

  private:
    FieldSizes sizes_;
    int width_;
    std::unique_ptr<FieldOnTileOf> steps_;
};
/// The same in double, as most equations by hand are.
using FieldOnTile = FieldOnTileOf<double>;

/// Makes an equation for the tiles of workers; shared by all of them.
class FieldMaker {
  public:
    explicit FieldMaker(const FieldSizes& sizes) : sizes_(sizes) {}
    FieldMaker(const FieldMaker&) = delete;
    FieldMaker& operator=(const FieldMaker&) = delete;
    virtual ~FieldMaker() = default;

    /// The components of y.
    [[nodiscard]] int num_states() const { return sizes_.states; }
    /// The components of p.
    [[nodiscard]] int num_parameters() const { return sizes_.parameters; }
    /// False where f does not depend on t.
    [[nodiscard]] bool reads_time() const { return sizes_.reads_time; }
    /// What it reads of inputs.
    [[nodiscard]] const InputSizes& inputs() const { return sizes_.inputs; }
    /// All of these.
    [[nodiscard]] const FieldSizes& sizes() const { return sizes_; }
    /// The components that count in norms of errors, in order: those that change; all, where none does or it is not known.
    [[nodiscard]] virtual std::vector<int> counted_components() const {
        std::vector<int> all;
        for (int i = 0; i < sizes_.own_states(); ++i) all.push_back(i);
        return all;
    }
    /// The equation of y and of tangents of it, one after another, whose steps are those of y: their bits are those of
    /// `f`. One that is given alone has ṗ behind p. Null where the equation knows no derivatives.
    [[nodiscard]] virtual std::shared_ptr<const FieldMaker> with_tangents(
        const std::vector<Direction>& /*directions*/) const {
        return nullptr;
    }
    /// The components of p that f does not read, in order. None where it is not known.
    [[nodiscard]] virtual std::vector<int> unread_parameters() const { return {}; }
    /// The program (t, y, p) → dy/dt that it is. Null where it is none.
    [[nodiscard]] virtual const Graph* graph() const { return nullptr; }
    /// The equation on tiles of 1, 8, 16, 32 or 64 trajectories. Safe to call from several threads.
    [[nodiscard]] virtual std::unique_ptr<FieldOnTile> on_tile(int width) const = 0;
    /// The same for parameters that all trajectories share: p is a number for each component instead of a row, and
    /// pbar has sums over trajectories. What is read behind p, in rows, begins at the next multiple of eight: the data of a loss,
    /// or inputs, which are pulled back to. Null where the equation knows no such tiles.
    [[nodiscard]] virtual std::unique_ptr<FieldOnTile> on_shared_tile(int /*width*/) const {
        return nullptr;
    }
    /// The equation in single precision. Null where the equation is known in double alone.
    [[nodiscard]] virtual std::unique_ptr<FieldOnTileOf<float>> on_float_tile(int /*width*/) const {
        return nullptr;
    }
    /// In single precision, for parameters that all trajectories share. Null as above.
    [[nodiscard]] virtual std::unique_ptr<FieldOnTileOf<float>> on_shared_float_tile(
        int /*width*/) const {
        return nullptr;
    }
    /// The components of the longest vector that products with matrices read or make; 0 where there are none.
    [[nodiscard]] virtual int longest_of_products() const { return 0; }

  private:
    FieldSizes sizes_;
};

}  // namespace eddy::inline v0
