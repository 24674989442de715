#pragma once
// All lanes of a call with the same steps. Tiles make their attempts one beside the other; then their norms become
// one, added in double in the order of the lanes, so that neither threads nor the size of a tile change a bit of it;
// then each tile is told. A lane that has ended, well or not, is no part of the norm. A gradient first finds the
// steps so, forward alone; then every tile takes them as given, forward and back as ever: one evaluation more of each
// stage, and no more memory than lanes of their own.

#include <eddy/backends/cpu/arena_memory.hpp>
#include <span>
#include <vector>
#include "row_solve.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class JointRows {
  public:
    /// Solves all lanes, a tile of `tiles.group_size` each, with an equation and a recorder for each worker.
    /// `counts`: do lanes that end here count as ended?
    void run(const RowProblem<Real>& problem, const LaunchPlan& tiles, const ThreadLink& link,
             std::span<FieldOnTileOf<Real>* const> fields,
             std::span<RowRecorder<Real>* const> recorders, LaneOutcome* outcomes, bool counts);
    /// The same for a gradient, of a problem of its own, which then prescribes its steps, whatever the error of a lane.
    void find_steps(RowProblem<Real>& problem, const LaunchPlan& tiles, const ThreadLink& link,
                    std::span<FieldOnTileOf<Real>* const> fields, LaneOutcome* outcomes);
    /// Lanes have taken those steps a second time: what they are told to have cost is both.
    void add_first_solve(LaneOutcome* outcomes) const;
    /// Bytes that it works in and keeps.
    [[nodiscard]] std::int64_t num_bytes() const;
    // The work of threads.
    void operator()(std::ptrdiff_t worker, std::ptrdiff_t tile);
    [[nodiscard]] bool attends() const { return link_.call->has_poll(); }
    void attend() const { link_.call->poll(); }

  private:
    static constexpr float has_ended = -1;  // in place of a norm
    enum class Work { begin, attempt, take_verdict };

    struct Tile {
        RowSolve<Real> solve;
        Real* y;
        Tile(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, Arena& arena)
            : solve(problem, field, false, arena),
              y(arena.take<Real>(std::int64_t{problem.state_size} * field.width())) {}
    };

    void lay_out(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field);
    void for_tiles(Work work);
    void attempt(Tile& tile, const ThreadTeam<1>& team);
    [[nodiscard]] double smallest_first_size();
    [[nodiscard]] bool combine_norms();

    ArenaMemory memory_;
    std::int64_t num_bytes_ = 0;
    std::vector<Tile> tiles_;
    std::vector<float> norms_;            // (lane)
    std::vector<double> elapsed_, size_;  // (step) that was accepted; elapsed at its start
    std::vector<LaneOutcome> first_;      // (lane), where lanes are solved twice
    std::int64_t ends_[2] = {};           // of the steps, as of one lane
    std::vector<Real> any_atol_;          // that every error meets

    // Of the call at hand.
    const RowProblem<Real>* problem_ = nullptr;
    LaunchPlan plan_{};
    ThreadLink link_{};
    std::span<FieldOnTileOf<Real>* const> fields_;
    std::span<RowRecorder<Real>* const> recorders_;
    LaneOutcome* outcomes_ = nullptr;
    bool counts_ = true;
    Work work_ = Work::begin;
    double first_size_ = 0, size_before_rejections_ = 0;
    float norm_ = 0;
};

}  // namespace eddy::inline v0::detail
