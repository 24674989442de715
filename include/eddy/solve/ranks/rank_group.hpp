#pragma once
// The processes that share the lanes of a call, its ranks, and what keeps any of them from waiting for ever.
// A call is two exchanges: before the work all ranks say what they were asked, after it what came of it, sums
// over lanes with it. Each goes up a binomial tree of ranks and comes down as one verdict, so that a failure anywhere
// ends the call on all ranks. While ranks work, a word to stop goes from neighbour to neighbour. Neighbours
// in the tree that wait or work give a sign of life now and then; one from which none has come for the time-out is named.
// After that the group is used no more, since nobody knows where that rank is.
// Test: tests/solve/ranks.cpp

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/cancellation.hpp>
#include <eddy/solve/ranks/rank_report.hpp>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// A call that several processes share has ended because one of them failed or did not come. All others throw this,
/// the one that failed throws what it has thrown. A bad argument of one rank is InvalidArgument on all.
struct EDDY_EXPORT RankError : ErrorAs<std::runtime_error> {
    RankError(int failed, const std::string& text) : ErrorAs(text), rank(failed) {}

    int rank;  ///< the rank that failed, or that did not come
};

}  // namespace eddy::inline v0

namespace eddy::inline v0::detail {

/// Ranks whose parent is r have the numbers r + 1, r + 2, r + 4, … below r + the lowest bit of r: each
/// subtree is a range of ranks, which begins with its root.
struct RankTree {
    int rank = 0, num_ranks = 1;

    [[nodiscard]] int parent() const { return rank & (rank - 1); }  // of rank 0: itself
    /// The children of this rank, in the order of the ranks.
    [[nodiscard]] std::vector<int> children() const {
        std::vector<int> children;
        for (int step = 1; rank + step < num_ranks && (rank & step) == 0; step *= 2)
            children.push_back(rank + step);
        return children;
    }
};

class EDDY_EXPORT RankGroup : public std::enable_shared_from_this<RankGroup> {
  public:
    /// What has been sent since the group was made.
    struct Traffic {
        std::int64_t messages = 0, bytes = 0;
        std::int64_t most_rows = 0;  // of sums, kept at a time
    };

    explicit RankGroup(std::unique_ptr<RankWire> wire);
    ~RankGroup();

    [[nodiscard]] int rank() const { return tree_.rank; }
    [[nodiscard]] int num_ranks() const { return tree_.num_ranks; }
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }
    /// Sets how many seconds may pass without a sign of life.
    void set_time_out(double seconds) { time_out_ = seconds; }

    /// A call begins; `where` is its name.
    void begin(const char* where);
    /// Waits for all before the work. Throws where one has failed or was asked something else.
    [[nodiscard]] const RankVerdict& agree(const CallPrint& print, std::int64_t num_lanes);
    /// Says who may cancel this rank's work, and is asked while it waits.
    void attend(const std::stop_token& cancelled, const Poll& poll);
    /// Does the work of this rank go on? False where another rank has stopped.
    [[nodiscard]] bool goes_on();
    /// All ranks are to stop their work.
    void stop() noexcept;
    /// Waits for all after the work, and returns the totals of sums over lanes; throws where one
    /// has failed.
    [[nodiscard]] std::vector<std::vector<double>> add_up(std::vector<LeafRun> sums);
    /// Waits for all after the work, and returns the bytes that each has given, in the order of the ranks.
    [[nodiscard]] RankWire::Message gather(RankWire::Message rows);
    /// Waits for all after work of which nothing is added up.
    void end_work();
    /// The call ends.
    void end();
    /// Says that the call has failed here with what is being handled; the others are told, if they
    /// do not know.
    void fail() noexcept;

  private:
    enum class Phase { idle, before, working, done };
    enum class Kind : std::int32_t { report, verdict, stop, alive };
    struct Header {
        std::int64_t number;  // of the exchange, or of the call that is to stop
        Kind kind;
    };
    struct Received {
        Header header;
        int from;
        RankWire::Message message;
    };

    [[nodiscard]] RankVerdict exchange(RankReport report);
    [[nodiscard]] RankVerdict after_work(std::vector<LeafRun> sums, RankWire::Message rows);
    /// Gathers the reports of children into that of this rank, and how many lanes each has.
    void gather(RankReport& report, std::vector<std::int64_t>& lanes_of_children);
    void scatter(const RankVerdict& verdict, std::int64_t own_lanes,
                 const std::vector<std::int64_t>& lanes_of_children);
    /// Waits for this message; null where no sign of life has come from that rank.
    [[nodiscard]] std::unique_ptr<Received> wait_for(Kind kind, int from);
    void send(int to, Kind kind, const RankWire::Message& message = {});
    void take_messages();
    void give_sign_of_life();
    void keep_attending();
    void require_agreed(const RankFailure& failure);
    void count_rows(const std::vector<LeafRun>& sums);
    void tell(int to, const RankVerdict& verdict);
    void take_stop(std::int64_t call);
    [[nodiscard]] RankFailure missing(int rank);
    [[nodiscard]] std::int64_t call() const { return number_ / 2; }

    std::unique_ptr<RankWire> wire_;
    RankTree tree_;
    std::vector<int> neighbours_;      // children, then the parent
    std::vector<std::int64_t> heard_;  // (rank) when last, in nanoseconds; of neighbours
    std::vector<Received> received_;
    Traffic traffic_;
    double time_out_ = 300;
    Phase phase_ = Phase::idle;
    const char* where_ = "";
    CallPrint print_;
    std::int64_t num_lanes_ = 0, number_ = 0, alive_at_ = 0, asked_at_ = 0;
    RankVerdict verdict_;
    std::stop_token cancelled_;
    Poll poll_;
    std::exception_ptr thrown_;  // by the poll
    std::int64_t stopped_ = -1,
                 told_stop_ = -1;  // calls that were to stop, as this rank heard and said
    RankFailure broken_;           // why nothing more is exchanged
};

/// The ranks of a solver object's backend, or none.
class RankLink {
  public:
    RankLink() = default;
    explicit RankLink(std::shared_ptr<RankGroup> group) : group_(std::move(group)) {}

    [[nodiscard]] RankGroup* get() const { return group_.get(); }
    [[nodiscard]] int rank() const { return group_ ? group_->rank() : 0; }
    [[nodiscard]] int num_ranks() const { return group_ ? group_->num_ranks() : 1; }

    /// The work of a call, on this process only, or as all ranks do it.
    template <class Work>
    decltype(auto) in_call(const char* where, const Work& work) const {
        if (!group_) return work();
        group_->begin(where);
        try {
            if constexpr (std::is_void_v<decltype(work())>) {
                work();
                group_->end();
            } else {
                decltype(auto) result = work();
                group_->end();
                return result;
            }
        } catch (...) {
            group_->fail();
            throw;
        }
    }

  private:
    std::shared_ptr<RankGroup> group_;
};

}  // namespace eddy::inline v0::detail
