#pragma once
// Plans for a chain of stages, by bytes and time: for each stage, keep nothing, keep its input, or keep
// the residuals that its pullback reads. The plan is the cheapest of all schedules that keep what they
// keep until it is used for good, and that begin each operation at the latest value held. (Beaumont,
// Eyraud-Dubois, Hermann, Joly & Shilova, arXiv 1911.13214, with values that residuals hold counted
// once, several ways of recording a stage, and pullbacks that need no recording.)
//
// Stage i takes x_i to x_{i+1}. Alive at any moment: kept values, residuals, values that residuals read,
// and the one cotangent in flight. An operation needs what is alive, what it makes, and its own
// transient bytes. The costs of all budgets are found at once, as step functions: no size is rounded.
// Test: tests/checkpoint/stage_plan.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace eddy::inline v0 {

/// One way to record a stage and to pull back from what was recorded.
struct StageOption {
    double record_time = 1;               ///< of making x_{i+1} and the residuals
    double pullback_time = 0;             ///< of the cotangent of x_i from that of x_{i+1}
    std::int64_t residual_bytes = 0;      ///< beside x_i and x_{i+1}
    std::int64_t record_transient = 0;    ///< while recording; less than 0 where it takes x_i over
    std::int64_t pullback_transient = 0;  ///< while pulling back
    bool reads_input = false;             ///< the pullback reads x_i as well
    bool reads_output = false;            ///< the pullback reads x_{i+1} as well
};

/// A pullback from x_i without a recording.
struct DirectPullback {
    double time = 1;
    std::int64_t transient = 0;
};

/// One stage of a chain.
struct StageCost {
    double time = 1;                         ///< of x_{i+1} from x_i, where nothing is kept
    std::int64_t state_bytes = 0;            ///< of x_i; 0 of x_0 if the caller holds it anyway
    std::int64_t cotangent_bytes = -1;       ///< of the cotangent of x_i; -1: as x_i
    std::int64_t transient = 0;              ///< beyond x_i and x_{i+1} while it runs
    std::vector<StageOption> options{};      ///< ways to record it
    std::optional<DirectPullback> direct{};  ///< where the pullback needs x_i only
};

/// The stages of a chain, and the size of what it ends in.
struct ChainCosts {
    std::vector<StageCost> stages;
    std::int64_t output_bytes = 0;
    std::int64_t output_cotangent_bytes = -1;  ///< -1: as the output
};

/// The budget of a plan.
struct PlanOptions {
    /// Bytes of everything that is alive at once. The bytes of parameters and of their gradients are
    /// constant: subtract them first.
    std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max() / 4;
    /// Budgets that are told apart within each part of the chain, at most. With fewer than there are, a
    /// plan still fits, and the least budget is exact; its time may be above the least. 0: all.
    int most_points = 1000;
};

enum class StageActionKind : std::uint8_t {
    advance,   ///< x_{i+1} from x_i
    record,    ///< the same, with the residuals of an option
    pullback,  ///< the cotangent of x_i from residuals, which are then free
    direct,    ///< the cotangent of x_i from x_i
    free       ///< x_i is no longer kept
};
struct StageAction {
    StageActionKind kind;
    std::int32_t stage;
    std::int32_t option = 0;  ///< of record
};

/// What is kept of a stage between the forward and the backward pass.
enum class KeptOfStage : std::uint8_t { nothing, input, residuals };

/// A budget, and the least time within it.
struct BudgetPoint {
    std::int64_t bytes;
    double time;
};

/// The cheapest schedule within a budget.
struct StagePlan {
    std::vector<StageAction> actions;
    std::vector<KeptOfStage> kept;     ///< (stage) when the first pullback begins
    double time = 0;                   ///< of all actions
    std::int64_t peak_bytes = 0;       ///< the least budget of this time
    std::int64_t least_bytes = 0;      ///< the least budget in which any plan fits
    std::vector<BudgetPoint> curve{};  ///< time against bytes, up to the budget, bytes increasing
};

namespace detail {

/// Defined in the library, so that what a measurement looks at must be computed.
EDDY_EXPORT void look_at(const void* result);

}  // namespace detail

/// The cheapest plan of the chain within the budget. InvalidArgument where none fits names the least
/// budget. With n stages and L budgets told apart, it takes a time of order n^3 L.
[[nodiscard]] EDDY_EXPORT StagePlan plan(const ChainCosts& costs, const PlanOptions& options = {});

}  // namespace eddy::inline v0
