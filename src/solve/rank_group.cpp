#include <algorithm>
#include <cstring>
#include <eddy/core/message.hpp>
#include <eddy/solve/ranks/rank_group.hpp>
#include <new>
#include <thread>

#include "rank_message.hpp"
#include "steady_clock.hpp"

namespace eddy::inline v0::detail {

namespace {

constexpr double nanosecond = 1e-9;
constexpr std::int64_t between_questions = 50'000'000;

/// Looks soon at first, then ever more rarely: at most a tenth of what has passed too late.
class Patience {
  public:
    void wait() {
        const std::int64_t passed = now_in_ns() - start_;
        if (passed < 100'000)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(
                std::chrono::nanoseconds(std::min<std::int64_t>(passed / 10, 1'000'000)));
    }

  private:
    std::int64_t start_ = now_in_ns();
};

/// Of the exception that is being handled.
RankFailure failure_here(int rank) {
    using Kind = RankFailure::Kind;
    try {
        throw;
    } catch (const InvalidArgument& error) {
        return {Kind::bad_argument, rank, error.what()};
    } catch (const std::exception& error) {
        return {Kind::exception, rank, error.what()};
    } catch (...) {
        return {Kind::exception, rank, "an exception without words"};
    }
}

/// Of a run of names.
std::vector<std::int32_t> names_of(const LeafRun& run) {
    std::vector<std::int32_t> names;
    for (const double name : run.rows()) names.push_back(static_cast<std::int32_t>(name));
    return names;
}

}  // namespace

RankWire::~RankWire() = default;
RowCarrier::~RowCarrier() = default;

RankGroup::RankGroup(std::unique_ptr<RankWire> wire)
    : wire_(std::move(wire)),
      tree_{wire_->rank(), wire_->num_ranks()},
      neighbours_(tree_.children()),
      heard_(static_cast<std::size_t>(tree_.num_ranks)) {
    if (tree_.rank > 0) neighbours_.push_back(tree_.parent());
}
RankGroup::~RankGroup() = default;

void RankGroup::begin(const char* where) {
    require_argument(phase_ == Phase::idle,
                     "{}: these ranks are in a call already, and serve one at a time; give each "
                     "solver that is called meanwhile a communicator of its own",
                     where);
    where_ = where;
    number_ += most_exchanges - number_ % most_exchanges;
    phase_ = Phase::before;
    thrown_ = nullptr;
    alive_at_ = now_in_ns();
    plans_.clear();
    give_ = nullptr;
    asked_ = works_for_ = -1;
    std::erase_if(received_, [&](const Received& old) { return old.header.number < number_; });
    attend({}, {});
}

const RankVerdict& RankGroup::agree(const CallPrint& print, std::int64_t num_lanes) {
    print_ = print;
    if (carrier_) print_.items[CallPrint::options] ^= carrier_->is_unordered() ? 2u : 1u;
    num_lanes_ = num_lanes;
    verdict_ = exchange({tree_.rank, num_lanes, print_, {}, {}});
    require_agreed(verdict_.failure);
    phase_ = Phase::working;
    return verdict_;
}

void RankGroup::attend(const std::stop_token& cancelled, const Poll& poll) {
    cancelled_ = cancelled;
    poll_ = poll;
    asked_at_ = now_in_ns();
}

bool RankGroup::goes_on() {
    take_messages();
    give_sign_of_life();
    return stopped_ < number_;
}

void RankGroup::stop() noexcept {
    if (phase_ != Phase::working) return;
    try {
        take_stop(number_);
    } catch (...) {  // no memory for a word: the others go on to their end
    }
}

RankVerdict RankGroup::after_work(std::vector<LeafRun> sums, RankWire::Message rows,
                                  NodeSum nodes) {
    count_rows(sums);
    RankVerdict verdict = exchange(
        {tree_.rank, num_lanes_, print_, {}, std::move(sums), std::move(rows), std::move(nodes)});
    require_agreed(verdict.failure);
    phase_ = Phase::done;
    if (thrown_) std::rethrow_exception(thrown_);
    return verdict;
}

std::vector<std::vector<double>> RankGroup::add_up(std::vector<LeafRun> sums) {
    if (carrier_ && num_ranks() > 1) return carry(std::move(sums));
    return after_work(std::move(sums), {}).totals;
}

std::vector<std::vector<double>> RankGroup::carry(std::vector<LeafRun> sums) {
    count_rows(sums);
    plans_.assign(sums.size(), {});
    RankReport report{tree_.rank, num_lanes_, print_, {}, {}, {}};
    for (std::size_t k = 0; k < sums.size() && !carrier_->is_unordered(); ++k) {
        report.sums.push_back(sums[k].named(0, plans_[k].adds));
        plans_[k].num_rows = sums[k].num_rows();
    }
    require_agreed(exchange(std::move(report)).failure);
    const std::vector<RowPlan> plans = std::exchange(plans_, {});
    std::vector<std::vector<double>> totals;
    try {
        carrier_->begin_call(call(), [this] { return goes_on(); });
        for (std::size_t k = 0; k < sums.size(); ++k) totals.push_back(carry(sums[k], plans[k]));
    } catch (const RowCarrier::Stopped&) {  // the last exchange says why
    }
    static_cast<void>(after_work({}, {}));
    return totals;
}

std::vector<double> RankGroup::carry(const LeafRun& sum, const RowPlan& plan) {
    RowCarrier& carrier = *carrier_;
    if (carrier.is_unordered()) {
        const auto num_rows = static_cast<std::int32_t>(sum.num_rows());
        carrier.open(sum.shape(), std::max(num_rows, 1));
        carrier.put(sum.rows());
        std::vector<RowAdd> adds;
        for (std::int32_t row = 1; row < num_rows; ++row) adds.push_back({0, row});
        carrier.add(adds);
        carrier.add_over_all(0);
        return carrier.read(0);
    }
    const auto children = tree_.children();
    const auto total =
        static_cast<std::int32_t>(plan.num_rows);  // zero, where there is nothing to add
    carrier.open(sum.shape(), total + 1);
    carrier.put(sum.rows());
    for (std::size_t k = 0; k < children.size(); ++k)
        carrier.receive(children[k], plan.of_children[k]);
    carrier.add(plan.adds);
    const bool is_root = tree_.rank == 0;
    if (!is_root) {
        carrier.send(tree_.parent(), plan.of_all);
        carrier.receive(tree_.parent(), {total});
    }
    const std::int32_t of_total = is_root ? plan.of_all.front() : total;
    for (const int child : children) carrier.send(child, {of_total});
    return carrier.read(of_total);
}

std::vector<double> RankGroup::add_up(NodeSum nodes) {
    const auto totals = after_work({}, {}, std::move(nodes)).totals;
    return totals.empty() ? std::vector<double>{} : totals.front();
}

RankWire::Message RankGroup::ask(int rank, std::uint64_t kind) {
    send(rank, Kind::want, message_of(kind));
    asked_ = rank;
    const std::int64_t start = now_in_ns();
    RankWire::Message given;
    for (Patience patience;; patience.wait()) {
        const bool goes_on = this->goes_on();
        if (const auto received = find(Kind::give, rank)) {  // also with the word to stop
            given.assign(received->message.begin() + sizeof(Header), received->message.end());
            break;
        }
        if (!goes_on) break;  // what comes later goes back
        keep_attending();
        require_alive(rank, start);
    }
    asked_ = -1;
    return given;
}

void RankGroup::require_alive(int rank, std::int64_t since) const {
    const std::int64_t heard = std::max(since, heard_[static_cast<std::size_t>(rank)]);
    if (static_cast<double>(now_in_ns() - heard) * nanosecond > time_out_)
        throw RankError(rank, compose("rank {} has given no answer for {} s; see what it does, or "
                                      "give a longer time_out",
                                      rank, time_out_));
}

bool RankGroup::has_brought(int rank, RankWire::Message& result) {
    take_messages();
    const auto found =
        std::find_if(received_.begin(), received_.end(), [&](const Received& message) {
            return message.from == rank && message.header.kind == Kind::done &&
                   message.header.number == number_;
        });
    if (found == received_.end()) return false;
    result.assign(found->message.begin() + sizeof(Header), found->message.end());
    received_.erase(found);
    return true;
}

RankWire::Message RankGroup::wait_for_result(int rank) {
    const std::int64_t start = now_in_ns();
    RankWire::Message result;
    for (Patience patience; !has_brought(rank, result); patience.wait()) {
        give_sign_of_life();
        keep_attending();
        require_alive(rank, start);
    }
    return result;
}

void RankGroup::answer_who_wants() {
    const auto wants = [&](const Received& message) {
        return message.header.kind == Kind::want && message.header.number == number_;
    };
    for (auto found = received_.begin();
         (found = std::find_if(received_.begin(), received_.end(), wants)) != received_.end();) {
        const int from = found->from;
        const auto kind = read_as<std::uint64_t>(found->message.data() + sizeof(Header));
        received_.erase(found);
        const bool gives = give_ && stopped_ < number_;
        send(from, Kind::give, gives ? give_(from, kind) : RankWire::Message{});
    }
}

RankWire::Message RankGroup::gather(RankWire::Message rows) {
    return after_work({}, std::move(rows)).rows;
}

void RankGroup::end_work() {
    if (phase_ == Phase::working) static_cast<void>(after_work({}, {}));
}

void RankGroup::end() {
    end_work();
    phase_ = Phase::idle;
}

void RankGroup::fail() noexcept {
    try {
        fail(failure_here(tree_.rank));
    } catch (...) {  // no memory for its sentence
        fail(RankFailure{RankFailure::Kind::exception, tree_.rank, ""});
    }
}

void RankGroup::leave() noexcept {
    try {
        begin("the last call");
        RankFailure failure = failure_here(tree_.rank);
        failure.kind = RankFailure::Kind::left;
        fail(failure);
    } catch (...) {
        fail();
    }
}

void RankGroup::fail(const RankFailure& failure) noexcept {
    give_ = nullptr;
    try {
        if (phase_ == Phase::before || phase_ == Phase::working) {
            for (const int waits : {asked_, works_for_})  // perhaps, for what was given here
                if (waits >= 0) send(waits, Kind::done);
            asked_ = works_for_ = -1;
            stop();
            static_cast<void>(exchange({tree_.rank, num_lanes_, print_, failure, {}}));
        }
    } catch (...) {
        broken_ = {RankFailure::Kind::missing, tree_.rank, "this rank could not tell of a failure"};
    }
    phase_ = Phase::idle;
}

void RankGroup::require_agreed(const RankFailure& failure) {
    if (!failure) return;
    phase_ = Phase::done;
    const auto& [kind, rank, text] = failure;
    if (kind == RankFailure::Kind::differs) throw InvalidArgument(compose("{}: {}", where_, text));
    if (kind == RankFailure::Kind::missing) throw RankError(rank, compose("{}: {}", where_, text));
    const std::string told = compose("{}: rank {} has ended the call: {}", where_, rank, text);
    if (kind == RankFailure::Kind::bad_argument) throw InvalidArgument(told);
    throw RankError(rank, told);
}

RankVerdict RankGroup::exchange(RankReport report) {
    if (broken_) {
        report.failure = broken_;
        return RankVerdict::of(report);
    }
    std::vector<std::int64_t> lanes_of_children;
    const std::int64_t own_lanes = report.num_lanes;
    gather(report, lanes_of_children);
    for (std::size_t k = 0; k < std::min(plans_.size(), report.sums.size()); ++k)
        plans_[k].of_all = names_of(report.sums[k]);
    RankVerdict verdict;
    if (tree_.rank == 0) {
        verdict = RankVerdict::of(std::move(report));
        for (std::size_t k = 0; k < std::min(plans_.size(), verdict.totals.size()); ++k)
            plans_[k].of_all = {static_cast<std::int32_t>(verdict.totals[k][0])};
    } else {
        const RankWire::Message message = report.write();
        send(tree_.parent(), Kind::report, message);
        if (const auto received = wait_for(Kind::verdict, tree_.parent())) {
            verdict = RankVerdict::read(received->message.data() + sizeof(Header));
        } else {
            report.failure = verdict.failure = missing(tree_.parent());
            send(tree_.parent(), Kind::report, report.write());  // for when it comes
        }
    }
    scatter(verdict, own_lanes, lanes_of_children);
    if (verdict.failure.is_for_good()) broken_ = verdict.failure;
    ++number_;
    return verdict;
}

void RankGroup::gather(RankReport& report, std::vector<std::int64_t>& lanes_of_children) {
    for (const int child : tree_.children()) {
        const auto received = wait_for(Kind::report, child);
        if (!received) {
            if (!report.failure) report.failure = missing(child);
            tell(child, RankVerdict::of(report));  // for when it comes
            lanes_of_children.push_back(0);
            continue;
        }
        RankReport of_child = RankReport::read(received->message.data() + sizeof(Header));
        lanes_of_children.push_back(of_child.num_lanes);
        for (std::size_t k = 0; k < std::min(plans_.size(), of_child.sums.size()); ++k) {
            RowPlan& plan = plans_[k];
            of_child.sums[k] = of_child.sums[k].named(plan.num_rows, plan.adds);
            plan.of_children.push_back(names_of(of_child.sums[k]));
            plan.num_rows += of_child.sums[k].num_rows();
        }
        report.append(of_child);
        count_rows(report.sums);
    }
}

void RankGroup::scatter(const RankVerdict& verdict, std::int64_t own_lanes,
                        const std::vector<std::int64_t>& lanes_of_children) {
    RankVerdict of_child = verdict;
    of_child.first_lane += own_lanes;
    std::size_t k = 0;
    for (const int child : tree_.children()) {
        tell(child, of_child);
        of_child.first_lane += lanes_of_children[k++];
    }
}

void RankGroup::count_rows(const std::vector<LeafRun>& sums) {
    for (const LeafRun& run : sums)
        traffic_.most_rows = std::max(traffic_.most_rows, run.num_rows());
}

RankFailure RankGroup::missing(int rank) {
    broken_ = {RankFailure::Kind::missing, rank,
               compose("rank {} has given no sign of life for {} s; see what it does, or give a "
                       "longer time_out",
                       rank, time_out_)};
    return broken_;
}

std::unique_ptr<RankGroup::Received> RankGroup::find(Kind kind, int from) {
    const auto is_it = [&](const Received& message) {
        return message.from == from && message.header.kind == kind &&
               message.header.number == number_;
    };
    const auto found = std::find_if(received_.rbegin(), received_.rend(), is_it);
    if (found == received_.rend()) return nullptr;
    auto message = std::make_unique<Received>(std::move(*found));  // the last word counts
    std::erase_if(received_, is_it);
    return message;
}

std::unique_ptr<RankGroup::Received> RankGroup::wait_for(Kind kind, int from) {
    const std::int64_t start = now_in_ns();
    for (Patience patience;; patience.wait()) {
        take_messages();
        if (auto message = find(kind, from)) return message;
        give_sign_of_life();
        keep_attending();
        const std::int64_t heard = std::max(start, heard_[static_cast<std::size_t>(from)]);
        if (static_cast<double>(now_in_ns() - heard) * nanosecond > time_out_) return nullptr;
    }
}

void RankGroup::tell(int to, const RankVerdict& verdict) {
    send(to, Kind::verdict, verdict.write());
}

void RankGroup::send(int to, Kind kind, const RankWire::Message& message) {
    send(to, Header{number_, kind}, message);
}

void RankGroup::send(int to, const Header& header, const RankWire::Message& message) {
    RankWire::Message whole(sizeof(Header) + message.size());
    std::memcpy(whole.data(), &header, sizeof(Header));
    std::copy(message.begin(), message.end(), whole.begin() + sizeof(Header));
    ++traffic_.messages;
    traffic_.bytes += static_cast<std::int64_t>(whole.size());
    wire_->send(to, std::move(whole));
}

void RankGroup::take_messages() {
    int from = 0;
    for (RankWire::Message message; wire_->receive(from, message);) {
        Header header{};
        std::memcpy(&header, message.data(), sizeof(Header));
        heard_[static_cast<std::size_t>(from)] = now_in_ns();
        if (header.kind == Kind::stop)
            take_stop(header.number);
        else if (header.kind != Kind::alive && header.number >= number_)
            keep({header, from, std::move(message)});
    }
    if (phase_ == Phase::working) answer_who_wants();
}

void RankGroup::keep(Received message) {
    const bool is_late = message.header.kind == Kind::give && message.from != asked_;
    if (!is_late)
        received_.push_back(std::move(message));
    else if (message.message.size() > sizeof(Header))  // who gave it waits for what comes of it
        send(message.from, Header{message.header.number, Kind::done});
}

void RankGroup::take_stop(std::int64_t number) {
    stopped_ = std::max(stopped_, number);
    if (number < number_ || told_stop_ >= number) return;
    told_stop_ = number;
    for (const int neighbour : neighbours_) send(neighbour, Header{number, Kind::stop});
}

void RankGroup::give_sign_of_life() {
    const std::int64_t now = now_in_ns();
    if (static_cast<double>(now - alive_at_) * nanosecond < time_out_ / 4) return;
    alive_at_ = now;
    for (const int neighbour : neighbours_) send(neighbour, Kind::alive);
    if (works_for_ >= 0) send(works_for_, Kind::alive);
}

void RankGroup::keep_attending() {
    const std::int64_t now = now_in_ns();
    if (phase_ != Phase::working || now - asked_at_ < between_questions) return;
    asked_at_ = now;
    if (cancelled_.stop_requested()) stop();
    if (!poll_ || thrown_) return;
    try {
        if (!poll_()) stop();
    } catch (...) {
        thrown_ = std::current_exception();
        stop();
    }
}

}  // namespace eddy::inline v0::detail
