#include <eddy/trace/run_time_parts.hpp>
#include <string>
#include <vector>

namespace eddy::inline v0 {

struct RunTimeParts::Parts {
    std::vector<std::shared_ptr<const std::string>> texts;
    std::vector<std::shared_ptr<const AnyPolicy>> policies;
    std::vector<SourcePlace> places;
};

std::string_view RunTimeParts::keep(std::string_view text) {
    parts().texts.push_back(std::make_shared<const std::string>(text));
    return *parts_->texts.back();
}
int RunTimeParts::keep_any(std::shared_ptr<const AnyPolicy> policy) {
    parts().policies.push_back(std::move(policy));
    return static_cast<int>(parts_->policies.size()) - 1;
}
Saving RunTimeParts::ask(int place, const Candidate& value) const {
    return parts_->policies[static_cast<std::size_t>(place)]->ask(value);
}
int RunTimeParts::keep_place(const SourcePlace& place) {
    std::vector<SourcePlace>& places = parts().places;
    for (std::size_t k = places.size(); k > 0; --k) {  // the latest is the likeliest
        if (places[k - 1] == place) return static_cast<int>(k);
    }
    places.push_back(place);
    return static_cast<int>(places.size());
}
SourcePlace RunTimeParts::place(int number) const {
    return number == 0 ? SourcePlace{} : parts_->places[static_cast<std::size_t>(number) - 1];
}

RunTimeParts::Parts& RunTimeParts::parts() {
    if (parts_ == nullptr) parts_ = std::make_unique<Parts>().release();
    return *parts_;
}
void RunTimeParts::copy(const RunTimeParts& other) {
    parts_ = std::make_unique<Parts>(*other.parts_).release();
}
void RunTimeParts::release() noexcept { const std::unique_ptr<Parts> owner(parts_); }
RunTimeParts::Counts RunTimeParts::append_parts(const RunTimeParts& other) {
    const Parts added = *other.parts_;  // perhaps its own
    Parts& own = parts();
    const Counts before{static_cast<int>(own.policies.size()), static_cast<int>(own.places.size())};
    own.texts.insert(own.texts.end(), added.texts.begin(), added.texts.end());
    own.policies.insert(own.policies.end(), added.policies.begin(), added.policies.end());
    own.places.insert(own.places.end(), added.places.begin(), added.places.end());
    return before;
}

}  // namespace eddy::inline v0
