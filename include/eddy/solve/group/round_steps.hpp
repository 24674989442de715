#pragma once
// The steps of each round, for recorders that save nothing else (group/save_points.hpp): when they began and their sizes.
// States and times are not asked for, so that rounds stay on their hot path.
// Test: tests/solve/event_gradients.cpp

#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

/// The steps of each round, which are kept only if they `are_wanted`.
template <class Spec, int num_chains, bool are_wanted>
class RoundSteps {
    static constexpr int num_places = Spec::num_places;

  public:
    /// Keeps who is where before a round, and when their steps begin.
    template <class Loop>
    EDDY_INLINE EDDY_HD void keep(const Loop& x, const Chain<Spec> (&chains)[num_chains]) {
        for (int chain = 0; chain < x.count(); ++chain) {
            elapsed_[chain] = x.chain[chain].elapsed;
            for (int place = 0; place < num_places; ++place)
                lanes_[chain][place] = chains[chain].occupants[place].lane;
        }
    }
    /// Tells after a round of the sizes that were taken.
    template <class Sizes, class Saves>
    EDDY_INLINE EDDY_HD void tell(int count, const Sizes& used, const Saves& saves) const {
        for (int chain = 0; chain < count; ++chain) {
            for (int place = 0; place < num_places; ++place) {
                const std::int32_t lane = lanes_[chain][place];
                const double size = get_lane(used.chain[chain], place);
                if (lane == no_lane || size == 0) continue;
                saves.save_size(lane, get_lane(elapsed_[chain], place), size);
            }
        }
    }

  private:
    typename Spec::Time elapsed_[num_chains];
    std::int32_t lanes_[num_chains][num_places];
};

template <class Spec, int num_chains>
class RoundSteps<Spec, num_chains, false> {
  public:
    EDDY_INLINE EDDY_HD static void keep(const auto&, const auto&) {}
    EDDY_INLINE EDDY_HD static void tell(int, const auto&, const auto&) {}
};

}  // namespace eddy::inline v0::detail
