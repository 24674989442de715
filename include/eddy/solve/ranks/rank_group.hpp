#pragma once
// The processes that share the lanes of a call, its ranks, and what keeps any of them from waiting for ever.
// A call is two exchanges: before the work all ranks say what they were asked, after it what came of it, sums
// over lanes with it. Each goes up a binomial tree of ranks and comes down as one verdict, so that a failure anywhere
// ends the call on all ranks. While ranks work, a word to stop goes from neighbour to neighbour. Neighbours
// in the tree that wait or work give a sign of life now and then; one from which none has come for the time-out is named.
// After that the group is used no more, since nobody knows where that rank is.
// With a carrier (row_carrier.hpp) the second exchange says which rows each rank has, these are added by devices, and a
// third says that all has gone well.
// Test: tests/solve/ranks.cpp, tests/solve/row_carriers.cpp

#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/cancellation.hpp>
#include <eddy/solve/ranks/rank_report.hpp>
#include <eddy/solve/ranks/row_carrier.hpp>
#include <exception>
#include <functional>
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

/// Parts of a work, one after another.
struct PartRange {
    std::int64_t first = 0, count = 0;
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
    /// Has devices add up sums over lanes, of several ranks; null: the host does.
    void set_carrier(std::shared_ptr<RowCarrier> carrier) { carrier_ = std::move(carrier); }
    [[nodiscard]] bool has_carrier() const { return carrier_ != nullptr; }

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
    /// The same of sums that ranks have of lanes here and there.
    [[nodiscard]] std::vector<double> add_up(NodeSum nodes);
    /// Says what the rank `to` gets that asks for work of a kind during this call; empty: nothing. It gets an answer when
    /// this one looks for messages; without anything said, none of the work.
    using Give = std::function<RankWire::Message(int to, std::uint64_t kind)>;
    void give_when_asked(Give give) { give_ = std::move(give); }
    /// Does anybody wait long for an answer, where this one looks for messages seldom?
    [[nodiscard]] bool gives() const { return give_ != nullptr; }
    /// Asks another rank for work, and waits for its answer; nothing, where a rank has stopped.
    [[nodiscard]] RankWire::Message ask(int rank, std::uint64_t kind);
    /// This rank works for another one, which waits for what comes of it, and hears signs of life; -1: for none.
    void work_for(int rank) { works_for_ = rank; }
    /// What has come of work that another rank has given; empty: it was not done.
    void bring(int rank, const RankWire::Message& result) { send(rank, Kind::done, result); }
    /// The next such result of a rank, if it is there.
    [[nodiscard]] bool has_brought(int rank, RankWire::Message& result);
    /// The same; waits for it.
    [[nodiscard]] RankWire::Message wait_for_result(int rank);
    /// Waits for all after work of which nothing is added up.
    void end_work();
    /// The call ends.
    void end();
    /// Says that the call has failed here with what is being handled; the others are told, if they
    /// do not know.
    void fail() noexcept;
    /// Says between calls that this rank makes no other one, because of what is being handled: those of the others
    /// fail from now on.
    void leave() noexcept;

  private:
    enum class Phase { idle, before, working, done };
    enum class Kind : std::int32_t { report, verdict, stop, alive, want, give, done };
    struct Header {
        std::int64_t number;  // of the exchange that comes next
        Kind kind;
    };
    struct Received {
        Header header;
        int from;
        RankWire::Message message;
    };

    /// What a carrier is to do with one of the sums: rows that come, what is added, rows that go.
    struct RowPlan {
        std::int64_t num_rows = 0;
        std::vector<std::vector<std::int32_t>> of_children;
        std::vector<RowAdd> adds;
        std::vector<std::int32_t> of_all;  // of this rank and those below
    };

    [[nodiscard]] std::vector<std::vector<double>> carry(std::vector<LeafRun> sums);
    [[nodiscard]] std::vector<double> carry(const LeafRun& sum, const RowPlan& plan);
    void fail(const RankFailure& failure) noexcept;
    [[nodiscard]] RankVerdict exchange(RankReport report);
    [[nodiscard]] RankVerdict after_work(std::vector<LeafRun> sums, RankWire::Message rows,
                                         NodeSum nodes = {});
    /// Gathers the reports of children into that of this rank, and how many lanes each has.
    void gather(RankReport& report, std::vector<std::int64_t>& lanes_of_children);
    void scatter(const RankVerdict& verdict, std::int64_t own_lanes,
                 const std::vector<std::int64_t>& lanes_of_children);
    /// Waits for this message; null where no sign of life has come from that rank.
    [[nodiscard]] std::unique_ptr<Received> wait_for(Kind kind, int from);
    void send(int to, Kind kind, const RankWire::Message& message = {});
    void send(int to, const Header& header, const RankWire::Message& message = {});
    void take_messages();
    /// Takes a message out that has come: the last one of its kind.
    [[nodiscard]] std::unique_ptr<Received> find(Kind kind, int from);
    void answer_who_wants();
    void keep(Received message);
    void require_alive(int rank, std::int64_t since) const;
    void give_sign_of_life();
    void keep_attending();
    void require_agreed(const RankFailure& failure);
    void count_rows(const std::vector<LeafRun>& sums);
    void tell(int to, const RankVerdict& verdict);
    void take_stop(std::int64_t number);
    [[nodiscard]] RankFailure missing(int rank);
    [[nodiscard]] std::int64_t call() const { return number_ / most_exchanges; }

    static constexpr std::int64_t most_exchanges = 4;  // that a call has numbers for

    std::unique_ptr<RankWire> wire_;
    std::shared_ptr<RowCarrier> carrier_;
    std::vector<RowPlan> plans_;  // (sum) of the exchange at hand
    RankTree tree_;
    std::vector<int> neighbours_;      // children, then the parent
    std::vector<std::int64_t> heard_;  // (rank) when last, in nanoseconds; of neighbours
    std::vector<Received> received_;
    Traffic traffic_;
    double time_out_ = 300;
    Phase phase_ = Phase::idle;
    const char* where_ = "";
    CallPrint print_;
    std::int64_t num_lanes_ = 0, number_ = -1, alive_at_ = 0, asked_at_ = 0;
    RankVerdict verdict_;
    Give give_;
    int asked_ = -1, works_for_ = -1;  // a rank, or none
    std::stop_token cancelled_;
    Poll poll_;
    std::exception_ptr thrown_;  // by the poll
    std::int64_t stopped_ = -1,
                 told_stop_ =
                     -1;  // before which exchange work was to stop, as this rank heard and said
    RankFailure broken_;  // why nothing more is exchanged
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
