#include <algorithm>
#include <eddy/solve/ranks/work_share.hpp>

namespace eddy::inline v0::detail {

namespace {

class WorkShare {
  public:
    WorkShare(RankGroup& group, RankWork& work, std::int64_t num_parts, std::int64_t at_a_time)
        : group_(group),
          work_(work),
          rest_{0, num_parts},
          at_a_time_(at_a_time),
          others_(others_to_ask(group.rank(), group.num_ranks())) {
        group_.give_when_asked([this](int to, std::uint64_t kind) { return give(to, kind); });
    }
    WorkShare(const WorkShare&) = delete;
    WorkShare& operator=(const WorkShare&) = delete;
    ~WorkShare() { group_.give_when_asked(nullptr); }

    void run() {
        do {
            while (rest_.count > 0) run_some();
        } while (work_for_another());
        while (!given_.empty()) {
            const int from = given_.front().to;
            take_back(from, group_.wait_for_result(from));
        }
    }

  private:
    struct Given {
        int to;
        PartRange parts;
    };

    /// Parts of the rest in the order of the parts: fewer and fewer, so that at the end there is little to wait for.
    void run_some() {
        const std::int64_t count =
            std::min(rest_.count, std::max(at_a_time_, rest_.count / shares()));
        const PartRange parts{rest_.first, count};
        rest_ = {rest_.first + count, rest_.count - count};
        if (!group_.goes_on()) work_.stop();
        work_.run(parts);
        for (const int other : others_) {
            for (RankWork::Message result; group_.has_brought(other, result);)
                take_back(other, result);
        }
    }
    /// The last parts, of which there is something left for all who may ask.
    [[nodiscard]] RankWork::Message give(int to, std::uint64_t kind) {
        if (rest_.count == 0 || kind != work_.kind()) return {};
        const std::int64_t count = (rest_.count + shares() - 1) / shares();
        const PartRange parts{rest_.first + rest_.count - count, count};
        RankWork::Message message = work_.packed(parts);
        given_.push_back({to, parts});
        rest_.count -= count;
        return message;
    }
    [[nodiscard]] std::int64_t shares() const { return 4 * std::ssize(others_); }
    /// Results of a rank come in the order in which it was given parts.
    void take_back(int from, const RankWork::Message& result) {
        const auto given = std::find_if(given_.begin(), given_.end(),
                                        [&](const Given& one) { return one.to == from; });
        if (given == given_.end()) return;  // it has failed before it had any
        const PartRange parts = given->parts;
        given_.erase(given);
        if (!result.empty()) return work_.take_back(parts, result);
        work_.stop();  // who had them has stopped
        work_.run(parts);
    }
    /// Was there something left?
    [[nodiscard]] bool work_for_another() {
        for (const int other : others_) {
            if (!group_.goes_on()) return false;
            const RankWork::Message parts = group_.ask(other, work_.kind());
            if (parts.empty()) continue;
            if (!group_.goes_on()) work_.stop();
            group_.work_for(other);
            group_.bring(other, work_.run_packed(parts));  // where it throws, fail() tells
            group_.work_for(-1);
            return true;
        }
        return false;
    }

    RankGroup& group_;
    RankWork& work_;
    PartRange rest_;
    std::int64_t at_a_time_;
    std::vector<int> others_;
    std::vector<Given> given_;  // in their order
};

}  // namespace

RankWork::~RankWork() = default;

std::vector<int> others_to_ask(int rank, int num_ranks) {
    constexpr int few = 16;
    std::vector<int> others;
    if (num_ranks <= few) {
        for (int step = 1; step < num_ranks; ++step) others.push_back((rank + step) % num_ranks);
        return others;
    }
    for (int bit = 1; bit < num_ranks; bit *= 2) {
        if ((rank ^ bit) < num_ranks) others.push_back(rank ^ bit);
    }
    return others;
}

void share_work(RankGroup& group, RankWork& work, std::int64_t num_parts, std::int64_t at_a_time) {
    WorkShare(group, work, num_parts, at_a_time).run();
}

}  // namespace eddy::inline v0::detail
