// Sums over lanes of ranks that are added on devices: the bits of the host's, and all end together. A device is an
// array of its own here, which only copies and kernels reach, and a rank is a thread.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <eddy/backends/grid/device_rows.hpp>
#include <eddy/solve/ranks/local_ranks.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

using eddy::detail::LeafRun;
using eddy::detail::LeafShape;
using Group = std::shared_ptr<eddy::detail::RankGroup>;
using Totals = std::vector<std::vector<double>>;

/// A device of the thread that uses it. Memory of another one is out of reach.
struct ThreadDevice {
    using Stream = int;
    static inline thread_local int current = -1;
    static inline std::mutex one;
    struct Piece {
        std::size_t num_bytes;
        int device;
    };
    static inline std::map<const std::byte*, Piece> pieces;

    static int current_device(int& device) { return device = current, 0; }
    static int use_device(int device) { return current = device, 0; }
    static int allocate(void*& piece, std::size_t num_bytes) {
        piece = ::operator new(num_bytes + 1);
        std::memset(piece, 0xff, num_bytes);
        const std::lock_guard lock(one);
        pieces[static_cast<std::byte*>(piece)] = {num_bytes, current};
        return 0;
    }
    static void release(void* piece) {
        const std::lock_guard lock(one);
        pieces.erase(static_cast<std::byte*>(piece));
        ::operator delete(piece);
    }
    static int copy(void* to, const void* from, std::size_t num_bytes, Stream) {
        if (!is_mine(to) || !is_mine(from)) return 1;
        std::memcpy(to, from, num_bytes);
        return 0;
    }
    static int clear(void* there, std::size_t num_bytes, Stream) {
        if (!is_mine(there)) return 1;
        std::memset(there, 0, num_bytes);
        return 0;
    }
    template <class Work>
    static int for_each(std::ptrdiff_t count, const Work& work, Stream) {
        if (!is_mine(work.rows) || !is_mine(work.adds)) return 1;
        for (std::ptrdiff_t i = 0; i < count; ++i) work(i);
        return 0;
    }
    static int is_done(Stream, bool& is_done) { return is_done = true, 0; }
    static int synchronize(Stream) { return 0; }
    static void pause() { std::this_thread::yield(); }
    static std::string words(int code) { return "code " + std::to_string(code); }

  private:
    /// Of the host, or of this device.
    static bool is_mine(const void* address) {
        const std::lock_guard lock(one);
        const auto* const byte = static_cast<const std::byte*>(address);
        auto piece = pieces.upper_bound(byte);
        if (piece == pieces.begin()) return true;
        --piece;
        return byte >= piece->first + piece->second.num_bytes || piece->second.device == current;
    }
};

/// Rows under way between devices.
struct Traffic {
    using Row = std::vector<double>;
    std::mutex one;
    std::map<std::pair<int, int>, std::deque<Row>> rows;  // (from, to)
    std::vector<Row> of_all;
    std::atomic<int> sent{0};
    int fails_at = -1;  // what is sent so many rows later fails
};

/// Moves them when it is asked whether that is done, as MPI does.
class ThreadLink {
  public:
    static constexpr bool follows_stream = false;

    ThreadLink(Traffic& traffic, int rank, int num_ranks, bool is_unordered)
        : traffic_(&traffic), rank_(rank), num_ranks_(num_ranks), is_unordered_(is_unordered) {}
    [[nodiscard]] bool is_unordered() const { return is_unordered_; }
    static void begin_call(std::int64_t) {}
    static void begin() {}
    void send(int to, const double* row, std::int64_t count, int) {
        if (traffic_->sent++ == traffic_->fails_at) throw std::runtime_error("the link is down");
        const std::lock_guard lock(traffic_->one);
        traffic_->rows[{rank_, to}].emplace_back(row, row + count);
    }
    void receive(int from, double* row, std::int64_t, int) { wanted_.push_back({from, row}); }
    void add_over_all(double* row, std::int64_t count, int) {
        const std::lock_guard lock(traffic_->one);
        traffic_->of_all.emplace_back(row, row + count);
        sum_ = row;
    }
    static void end() {}
    [[nodiscard]] bool is_done() {
        const std::lock_guard lock(traffic_->one);
        while (!wanted_.empty()) {
            const auto [from, row] = wanted_.front();
            auto& rows = traffic_->rows[{from, rank_}];
            if (rows.empty()) return false;
            std::copy(rows.front().begin(), rows.front().end(), row);
            rows.pop_front();
            wanted_.pop_front();
        }
        if (!sum_) return true;
        if (std::ssize(traffic_->of_all) < num_ranks_) return false;
        std::fill_n(sum_, traffic_->of_all[0].size(), 0.);
        for (const auto& row : traffic_->of_all)
            std::transform(row.begin(), row.end(), sum_, sum_, std::plus<>());
        sum_ = nullptr;
        return true;
    }
    void abort() { wanted_.clear(); }

  private:
    Traffic* traffic_;
    int rank_, num_ranks_;
    bool is_unordered_;
    std::deque<std::pair<int, double*>> wanted_;
    double* sum_ = nullptr;
};

void give_carrier(const Group& group, Traffic& traffic, bool is_unordered = false) {
    const ThreadLink link(traffic, group->rank(), group->num_ranks(), is_unordered);
    group->set_carrier(std::make_shared<eddy::detail::DeviceRows<ThreadDevice, ThreadLink>>(
        group->rank(), 0, link));
}

constexpr std::int64_t columns = 3;
constexpr LeafShape of_lanes{64, columns, 1, true}, of_groups{1, columns, 0, false};

double number(std::int64_t row, std::int64_t column) {
    return 1. / static_cast<double>(3 + (row * 7919 + column * 31) % 1009) - 0.01;
}
std::vector<double> row_of(std::int64_t index) {
    return {number(index, 0), number(index, 1), number(index, 2)};
}
/// The sums of a rank: lanes one by one, and groups.
std::vector<LeafRun> sums_of(std::int64_t first, std::int64_t count) {
    std::vector<LeafRun> sums{{of_lanes, first}, {of_groups, first}};
    for (std::int64_t k = first; k < first + count; ++k) {
        sums[0].add_lane(row_of(k).data());
        sums[1].add_leaf(row_of(k).data(), 1);
    }
    return sums;
}
Totals totals_by_host(std::int64_t count) {
    Totals totals;
    for (const LeafRun& run : sums_of(0, count)) totals.push_back(run.total());
    return totals;
}
bool same_bits(const Totals& a, const Totals& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
        if (a.size() != b.size() || a[k].size() != b[k].size()) return false;
        if (std::memcmp(a[k].data(), b[k].data(), b[k].size() * sizeof(double)) != 0) return false;
    }
    return true;
}

std::string said_by(const std::function<void()>& work) {
    try {
        work();
        return "done";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("row carriers: devices add in the order of the host, whatever the division") {
    std::mt19937 random(3);
    for (const std::int64_t lanes : {0, 1, 65, 700, 4'000}) {
        const Totals wanted = totals_by_host(lanes);
        for (const int ranks : {1, 2, 3, 5, 8}) {
            std::vector<std::int64_t> cuts{0, lanes};
            for (int k = 1; k < ranks; ++k)
                cuts.push_back(static_cast<std::int64_t>(random()) % (lanes + 1));
            std::sort(cuts.begin(), cuts.end());
            Traffic traffic;
            std::atomic<int> right{0};
            eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                give_carrier(group, traffic);
                const auto rank = static_cast<std::size_t>(group->rank());
                for (int call = 0; call < 2; ++call) {
                    eddy::detail::RankLink(group).in_call("call", [&] {
                        const std::int64_t first = cuts[rank], count = cuts[rank + 1] - first;
                        static_cast<void>(group->agree({}, count));
                        right += same_bits(group->add_up(sums_of(first, count)), wanted);
                    });
                }
            });
            CAPTURE(lanes, ranks);
            CHECK(right == 2 * ranks);
            CHECK((ranks == 1) == (traffic.sent == 0));  // they did go by the link
        }
    }
    CHECK(ThreadDevice::pieces.empty());
}

TEST_CASE("row carriers: a call that is cancelled still adds up what it has") {
    const Totals wanted = totals_by_host(300);
    Traffic traffic;
    std::atomic<int> right{0};
    eddy::detail::run_local_ranks(3, [&](const Group& group) {
        give_carrier(group, traffic);
        eddy::detail::RankLink(group).in_call("call", [&] {
            static_cast<void>(group->agree({}, 100));
            if (group->rank() == 1) group->stop();
            right += same_bits(group->add_up(sums_of(100 * group->rank(), 100)), wanted);
        });
    });
    CHECK(right == 3);
}

TEST_CASE("row carriers: unordered sums are equal on all ranks, and right but for rounding") {
    const std::int64_t lanes = 999;
    const Totals wanted = totals_by_host(lanes);
    Traffic traffic;
    std::vector<Totals> totals(3);
    eddy::detail::run_local_ranks(3, [&](const Group& group) {
        give_carrier(group, traffic, true);
        const auto rank = static_cast<std::size_t>(group->rank());
        eddy::detail::RankLink(group).in_call("call", [&] {
            static_cast<void>(group->agree({}, lanes / 3));
            const auto first = lanes / 3 * group->rank();
            totals[rank] = group->add_up({sums_of(first, lanes / 3)[1]});
        });
    });
    for (const Totals& total : totals) {
        CHECK(same_bits(total, totals[0]));
        for (std::size_t column = 0; column < columns; ++column)
            CHECK(std::abs(total[0][column] - wanted[1][column]) < 1e-12 * lanes);
    }
}

TEST_CASE(
    "row carriers: what fails on one rank, at work or on the way, ends all with its sentence") {
    for (const int ranks : {2, 3, 4}) {
        for (int failing = -1; failing < ranks; ++failing) {
            Traffic traffic;
            if (failing < 0) traffic.fails_at = 1;  // whoever sends then
            std::vector<std::string> said(static_cast<std::size_t>(ranks)), after(said);
            eddy::detail::run_local_ranks(ranks, [&](const Group& group) {
                give_carrier(group, traffic);
                const auto rank = static_cast<std::size_t>(group->rank());
                const auto call = [&](bool fails) {
                    return said_by([&] {
                        eddy::detail::RankLink(group).in_call("call", [&] {
                            static_cast<void>(group->agree({}, 100));
                            if (fails) throw std::runtime_error("broke");
                            static_cast<void>(group->add_up(sums_of(100 * group->rank(), 100)));
                        });
                    });
                };
                said[rank] = call(group->rank() == failing);
                if (failing >= 0) after[rank] = call(false);
            });
            const std::string sentence = failing < 0 ? "the link is down" : "broke";
            int own = 0;
            for (std::size_t rank = 0; rank < said.size(); ++rank) {
                CAPTURE(ranks, failing, rank, said[rank]);
                CHECK(said[rank].find(sentence) != std::string::npos);
                own += said[rank] == sentence;
                if (failing >= 0) CHECK(after[rank] == "done");
            }
            CHECK(own == 1);  // all others say which rank it was
        }
    }
}

TEST_CASE("row carriers: ranks of one process end together, also when one fails between calls") {
    std::vector<std::string> said(3);
    const auto all = said_by([&] {
        eddy::detail::run_local_ranks(3, [&](const Group& group) {
            eddy::detail::work_together(*group, [&] {
                if (group->rank() == 1) throw std::runtime_error("no file");
                said[static_cast<std::size_t>(group->rank())] = said_by([&] {
                    eddy::detail::RankLink(group).in_call(
                        "call", [&] { static_cast<void>(group->agree({}, 1)); });
                });
            });
        });
    });
    CHECK(all == "no file");
    CHECK(said[0] == "call: rank 1 has ended the call: no file");
    CHECK(said[2] == said[0]);
}
