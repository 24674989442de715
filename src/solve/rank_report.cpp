#include <cstring>
#include <eddy/core/message.hpp>
#include <eddy/solve/ranks/rank_report.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

namespace {

/// Numbers one after another, as they lie in memory: ranks are of one kind of machine.
class Writer {
  public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) { put(&value, 1); }
    template <class T>
    void put(const T* values, std::size_t count) {
        const auto* bytes = reinterpret_cast<const std::byte*>(values);
        message.insert(message.end(), bytes, bytes + count * sizeof(T));
    }
    template <class List>
    void put_list(const List& list) {
        put(static_cast<std::uint64_t>(list.size()));
        put(list.data(), list.size());
    }
    void put(const RankFailure& failure) {
        put(failure.kind);
        put(failure.rank);
        put_list(failure.text);
    }
    RankWire::Message message;
};

class Reader {
  public:
    explicit Reader(const std::byte* message) : at_(message) {}
    template <class T>
    [[nodiscard]] T take() {
        T value;
        std::memcpy(&value, at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }
    template <class List>
    [[nodiscard]] List take_list() {
        List list(take<std::uint64_t>(), typename List::value_type{});
        const std::size_t bytes = list.size() * sizeof(typename List::value_type);
        if (bytes > 0) std::memcpy(list.data(), at_, bytes);
        at_ += bytes;
        return list;
    }
    [[nodiscard]] RankFailure take_failure() {
        RankFailure failure;
        failure.kind = take<RankFailure::Kind>();
        failure.rank = take<std::int32_t>();
        failure.text = take_list<std::string>();
        return failure;
    }

  private:
    const std::byte* at_;
};

constexpr const char* names_of_items[] = {"another version of eddy", "another call",
                                          "another equation, method or type of numbers",
                                          "other options", "other shared parameters"};

}  // namespace

void RankReport::append(const RankReport& next) {
    num_lanes += next.num_lanes;
    using Kind = RankFailure::Kind;
    if (failure) return;
    failure = next.failure;
    if (failure && failure.kind != Kind::differs) return;
    // Those behind have been compared with the first of them.
    for (int item = 0; item < CallPrint::num_items; ++item) {
        if (print.items[item] == next.print.items[item]) continue;
        failure = {Kind::differs, next.first_rank, names_of_items[item]};
        break;
    }
    if (failure) return;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].append(next.sums[k]);
}

RankWire::Message RankReport::write() const {
    Writer writer;
    writer.put(first_rank);
    writer.put(num_lanes);
    writer.put(print);
    writer.put(failure);
    std::vector<double> numbers;
    for (const LeafRun& run : sums) run.write(numbers);
    writer.put(static_cast<std::uint64_t>(sums.size()));
    writer.put_list(numbers);
    return std::move(writer.message);
}

RankReport RankReport::read(const std::byte* message) {
    Reader reader(message);
    RankReport report;
    report.first_rank = reader.take<std::int32_t>();
    report.num_lanes = reader.take<std::int64_t>();
    report.print = reader.take<CallPrint>();
    report.failure = reader.take_failure();
    report.sums.resize(reader.take<std::uint64_t>());
    const auto numbers = reader.take_list<std::vector<double>>();
    const double* at = numbers.data();
    for (LeafRun& run : report.sums) run = LeafRun::read(at);
    return report;
}

RankVerdict RankVerdict::of(const RankReport& all) {
    RankVerdict verdict{0, all.num_lanes, all.failure, {}};
    auto& [kind, rank, text] = verdict.failure;
    if (kind == RankFailure::Kind::differs)
        text = compose("rank {} has been given {} than rank {}; give all ranks the same", rank,
                       text, all.first_rank);
    if (all.failure) return verdict;
    for (const LeafRun& run : all.sums) verdict.totals.push_back(run.total());
    return verdict;
}

RankWire::Message RankVerdict::write() const {
    Writer writer;
    writer.put(first_lane);
    writer.put(num_lanes);
    writer.put(failure);
    writer.put(static_cast<std::uint64_t>(totals.size()));
    for (const auto& total : totals) writer.put_list(total);
    return std::move(writer.message);
}

RankVerdict RankVerdict::read(const std::byte* message) {
    Reader reader(message);
    RankVerdict verdict;
    verdict.first_lane = reader.take<std::int64_t>();
    verdict.num_lanes = reader.take<std::int64_t>();
    verdict.failure = reader.take_failure();
    verdict.totals.resize(reader.take<std::uint64_t>());
    for (auto& total : verdict.totals) total = reader.take_list<std::vector<double>>();
    return verdict;
}

}  // namespace eddy::inline v0::detail
