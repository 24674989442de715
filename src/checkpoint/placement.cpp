#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/error.hpp>
#include <string>

namespace eddy::inline v0 {

namespace {

using std::int64_t;

// Tables are generated ahead for at most about this many operations when a loop is made; a store
// costs up to O(slots).
constexpr int64_t operations_ahead = int64_t{1} << 20;

class Planner {
  public:
    Planner(const LoopOptions& options, const char* where) : options_(options), where_(where) {}

    PlacementPlan plan() const {
        check_numbers();
        PlacementPlan plan{.placement = placement(),
                           .slots = 1,
                           .limit = options_.length.value_or(options_.max_steps),
                           .fixed_length = options_.length.has_value()};
        if (options_.nested_lengths.empty()) {
            place(plan);
        } else {
            nested(plan);
        }
        require(plan.slots <= most_slots,
                "room for {} states; a loop keeps 2^31 - 2 of them at most: give fewer "
                "checkpoints, or a placement that keeps fewer",
                plan.slots);
        return plan;
    }

  private:
    void place(PlacementPlan& plan) const {
        switch (plan.placement) {
            case Placement::none:
                require(options_.checkpoints <= 1,
                        "checkpoints = {} for a placement that keeps only the first state; leave "
                        "them out, or leave the placement out",
                        options_.checkpoints);
                break;
            case Placement::store_all: keep_every(1, plan); break;
            case Placement::square_root: keep_every(square_root_period(plan), plan); break;
            case Placement::periodic:
                require_at_least(1, "period", options_.period,
                                 "periodic placement needs a period of at least 1");
                keep_every(options_.period, plan);
                break;
            default: binomial(plan);
        }
    }

    template <class... Values>
    void require(bool valid,
                 std::type_identity_t<detail::MessageText<sizeof...(Values)>> what_and_what_to_do,
                 const Values&... values) const {
        if (!valid)
            require_argument(false, "{}: {}", where_,
                             detail::compose(what_and_what_to_do, values...));
    }

    void require_at_least(int64_t least, const char* name, int64_t value,
                          const char* what_to_do) const {
        require(value >= least, "{} = {}; {}", name, value, what_to_do);
    }

    void check_numbers() const {
        const int64_t length = options_.length.value_or(0);
        require_at_least(0, "length", length, "give a length of at least 0");
        require_at_least(0, "max_steps", options_.max_steps,
                         "give at least 0, or leave it out for no limit");
        require_at_least(0, "memory_bytes", options_.memory_bytes, "give at least a state's");
        require_at_least(0, "checkpoints", options_.checkpoints,
                         "give at least 1; the initial state needs one");
        require(options_.period == 0 || options_.placement == Placement::periodic,
                "period = {} for a placement that has none; give Placement::periodic, or leave the "
                "period out",
                options_.period);
        require(options_.max_steps >= length,
                "max_steps = {} is below length = {}; raise max_steps or leave it out",
                options_.max_steps, length);
    }

    Placement placement() const {
        require(options_.placement <= Placement::periodic,
                "placement = {} is none; give one of Placement, such as Placement::store_all",
                static_cast<int>(options_.placement));
        require(
            options_.memory_bytes == 0 ||
                (options_.checkpoints == 0 && options_.nested_lengths.empty() &&
                 options_.placement <= Placement::offline),
            "memory_bytes together with checkpoints, nested_lengths, or a placement of a definite "
            "size; give one of them");
        if (options_.placement == Placement::automatic) {
            return options_.length ? Placement::offline : Placement::cost_greedy;
        }
        require(options_.nested_lengths.empty(),
                "nested_lengths together with a placement; give one of them");
        require(options_.placement != Placement::offline || options_.length.has_value(),
                "offline placement without a length; give the length or choose cost_greedy");
        return options_.placement;
    }

    void binomial(PlacementPlan& plan) const {
        require(options_.checkpoints >= 1 || options_.memory_bytes > 0 || plan.limit <= 1,
                "checkpoints = 0; give at least 1, or a placement that needs no number (store_all, "
                "square_root)");
        plan.slots = std::max<int64_t>(1, std::min(options_.checkpoints, plan.limit));
        if (plan.slots >= plan.limit) {  // everything fits: no table needed
            plan.placement = Placement::store_all;
            plan.stride = 1;
        }
    }

    int64_t known_limit(const PlacementPlan& plan) const {
        require(plan.limit != schedule::unbounded,
                "a placement whose memory grows with the length; give length or max_steps");
        return std::max<int64_t>(1, plan.limit);
    }

    int64_t square_root_period(const PlacementPlan& plan) const {
        const int64_t limit = known_limit(plan);
        const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(limit)));
        int64_t period = std::max<int64_t>(1, root - 2);
        while (period < limit / period) ++period;
        return period;
    }

    void keep_every(int64_t period, PlacementPlan& plan) const {
        const int64_t limit = known_limit(plan);
        const int64_t periods = (limit - 1) / period + 1;
        const int64_t within = std::max<int64_t>(0, std::min(period, limit) - 2);
        plan.stride = period;
        plan.slots = schedule::add(periods, within);  // a period's states are then recomputed once
        if (options_.checkpoints != 0) plan.slots = std::min(plan.slots, options_.checkpoints);
        require(plan.slots >= periods,
                "checkpoints = {} for a placement that keeps {} states; raise checkpoints or leave "
                "it out",
                options_.checkpoints, periods);
    }

    void nested(PlacementPlan& plan) const {
        int64_t product = 1;
        for (const int64_t length : options_.nested_lengths) {
            require_at_least(1, "a nested length", length, "give lengths of at least 1");
            product = schedule::multiply(product, length);
        }
        const bool fits = plan.fixed_length
                              ? product == plan.limit
                              : plan.limit == schedule::unbounded || product >= plan.limit;
        require(fits, "the product of nested_lengths is {} but {} is {}; make them agree", product,
                plan.fixed_length ? "length" : "max_steps", plan.limit);
        plan.placement = Placement::periodic;
        plan.limit = std::min(plan.limit, product);
        int64_t stride = product;
        plan.slots = options_.nested_lengths.front();
        for (const int64_t length : options_.nested_lengths) {
            stride /= length;
            plan.nested_strides.push_back(stride);
            if (plan.nested_strides.size() > 1) plan.slots = schedule::add(plan.slots, length - 1);
        }
        plan.stride = plan.nested_strides.front();
        require(options_.checkpoints == 0 || options_.checkpoints >= plan.slots,
                "checkpoints = {} for nested_lengths that keep {} states; raise checkpoints or "
                "leave it out",
                options_.checkpoints, plan.slots);
    }

    const LoopOptions& options_;
    const char* where_;
};

}  // namespace

LoopOptions with_checkpoints(LoopOptions options, std::int64_t state_bytes, const char* where) {
    if (options.memory_bytes == 0) return options;
    const int64_t bytes = std::max<int64_t>(state_bytes, 1);
    require_argument(options.memory_bytes >= bytes,
                     "{}: memory_bytes = {}, but the first state takes {}; raise it", where,
                     options.memory_bytes, bytes);
    options.checkpoints = std::min(options.memory_bytes / bytes, most_slots);
    options.memory_bytes = 0;
    return options;
}

PlacementPlan plan_placement(const LoopOptions& options, const char* where) {
    return Planner(options, where).plan();
}

PlacementSequence::PlacementSequence(PlacementPlan plan)
    : plan_(std::move(plan)), staircase_(plan_.slots) {
    generate_to(operations_ahead / plan_.slots);
}

void PlacementSequence::generate_to(std::int64_t steps) {
    steps = std::min(steps, plan_.limit);
    if (!needs_table(steps)) return;
    use_table();
    if (greedy_) greedy_->generate_to(steps);
    if (treeverse_) treeverse_->generate_to(steps);
}

void PlacementSequence::restart() {
    staircase_ = Staircase(plan_.slots);
    index_ = 0;
    planned_ = {0, 0};
}

void PlacementSequence::use_table() {
    if (greedy_ || treeverse_) return;
    if (plan_.placement == Placement::cost_greedy) {
        greedy_ = PlacementTable<CostGreedy>::shared(plan_.slots);
    } else {
        treeverse_ = PlacementTable<OnlineTreeverse>::shared(plan_.slots);
    }
}

// What the table has behind the staircase.
std::span<const Placed> PlacementSequence::generated() {
    use_table();
    return greedy_ ? greedy_->from(index_) : treeverse_->from(index_);
}

std::span<const Placed> PlacementSequence::next_piece() {
    if (is_online()) {
        const auto count = static_cast<std::size_t>(
            staircase_.fill(planned_piece_.data(), std::ssize(planned_piece_)));
        if (count > 0) return {planned_piece_.data(), count};
        if (plan_.slots == 1) return {planned_piece_.data(), 1};  // nothing more
        const std::span<const Placed> piece = generated();
        index_ += static_cast<int64_t>(piece.size());
        return piece;
    }
    std::size_t count = 0;
    do {
        planned_piece_[count] = next_planned();
    } while (planned_piece_[count].step != schedule::unbounded && ++count < planned_piece_.size());
    return {planned_piece_.data(), std::min(count + 1, planned_piece_.size())};
}

Placed PlacementSequence::next() {
    if (!is_online()) return next_planned();
    const Placed placed = staircase_.next();
    if (placed.step != schedule::unbounded || plan_.slots == 1) return placed;
    const Placed generated_one = generated().front();
    ++index_;
    return generated_one;
}

Placed PlacementSequence::next_planned() {
    const Placed now = planned_;
    if (now.step == schedule::unbounded) return nothing_more();
    const int64_t stored = now.slot + 1;
    planned_ = {schedule::unbounded, stored};
    if (stored == plan_.slots) return now;
    if (plan_.placement == Placement::offline) {
        planned_.step =
            schedule::next_offline_checkpoint(now.step, plan_.limit, plan_.slots - stored);
    } else if (plan_.stride > 0) {
        planned_.step = schedule::add(now.step, plan_.stride);
    }
    return now;
}

std::int64_t PlacementSequence::nested_split(std::int64_t length) const {
    if (length <= 2) return 0;
    const int64_t stride =
        *std::ranges::find_if(plan_.nested_strides, [&](int64_t wide) { return wide < length; });
    return stride == length - 1 ? 0 : stride;  // the state before the last step is used at once
}

namespace detail {

std::string kept_text(const LoopOptions& options) {
    const std::string linearizations = "of each step what its linearization keeps";
    if (options.memory_bytes > 0)
        return compose("{} within {} bytes",
                       options.keep == Keep::residuals ? "states and residuals" : "states",
                       options.memory_bytes);
    if (options.placement == Placement::store_all) return linearizations;
    std::string states = "the states of its checkpoints";
    if (options.checkpoints > 0) states = compose("at most {} states", options.checkpoints);
    return options.keep == Keep::residuals ? states + ", and within one segment " + linearizations
                                           : states;
}

}  // namespace detail

}  // namespace eddy::inline v0
