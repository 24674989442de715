#include <algorithm>
#include <eddy/solve/lane/lost_states.hpp>
#include <utility>

namespace eddy::inline v0::detail {

void LostStates::add(std::ptrdiff_t lane, std::vector<double> y) {
    const auto place = std::lower_bound(kept_.begin(), kept_.end(), lane,
                                        [](const Kept& kept, auto at) { return kept.lane < at; });
    if (place == kept_.end() && kept_.size() == most) return;
    kept_.insert(place, {lane, std::move(y)});
    if (kept_.size() > most) kept_.pop_back();
}

std::vector<double> LostStates::of(std::ptrdiff_t lane) const {
    for (const Kept& kept : kept_) {
        if (kept.lane == lane) return kept.y;
    }
    return {};
}

}  // namespace eddy::inline v0::detail
