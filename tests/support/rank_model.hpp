#pragma once
// A call of many ranks on paper: the reports that they send up the tree of ranks, what these cost, and when the last
// rank is done. The reports are those of the library, with one column of sums; more columns are counted, not added.

#include <algorithm>
#include <cstdint>
#include <eddy/solve/ranks/rank_group.hpp>
#include <utility>
#include <vector>

namespace support {

/// What messages and sums take.
struct Network {
    double seconds_per_message = 1.5e-6;
    double bytes_per_second = 1e10;
    double numbers_per_second = 1e9;  // that a rank adds
};

/// What a rank has to do: a run of lanes, and how long they take.
struct RankWork {
    std::int64_t num_lanes = 0;
    double seconds = 0;
};

/// One call: an exchange before the work, and one after it with sums of so many columns.
class RankModel {
  public:
    RankModel(std::vector<RankWork> work, std::int64_t lanes_per_leaf, std::int64_t num_columns,
              const Network& network = {})
        : work_(std::move(work)),
          first_lane_(work_.size()),
          done_(work_.size()),
          lanes_per_leaf_(lanes_per_leaf),
          num_columns_(num_columns),
          network_(network) {
        for (std::size_t rank = 1; rank < work_.size(); ++rank)
            first_lane_[rank] = first_lane_[rank - 1] + work_[rank - 1].num_lanes;
        exchange(false);
        for (std::size_t rank = 0; rank < work_.size(); ++rank) done_[rank] += work_[rank].seconds;
        exchange(true);
    }
    [[nodiscard]] double seconds() const { return *std::max_element(done_.begin(), done_.end()); }
    /// Of all ranks; rows: the most that one of them keeps.
    [[nodiscard]] const eddy::detail::RankGroup::Traffic& traffic() const { return traffic_; }
    /// The most messages that one rank sends.
    [[nodiscard]] std::int64_t most_messages() const { return most_messages_; }

    /// The sums that a rank has of its lanes: each lane has one in each column.
    [[nodiscard]] static eddy::detail::LeafRun run_of(std::int64_t first, std::int64_t count,
                                                      std::int64_t lanes_per_leaf,
                                                      std::int64_t num_columns) {
        eddy::detail::LeafRun run({lanes_per_leaf, num_columns, num_columns, false}, first);
        const std::vector<double> row(static_cast<std::size_t>(num_columns), 1.);
        std::int64_t lane = first;
        const std::int64_t end = first + count;
        for (; lane < end && lane % lanes_per_leaf != 0; ++lane) run.add_lane(row.data());
        for (; lane < end; lane += lanes_per_leaf)
            run.add_leaf(row.data(), std::min(lanes_per_leaf, end - lane));
        return run;
    }

  private:
    using Report = eddy::detail::RankReport;
    static constexpr std::int64_t bytes_of_header = 16, bytes_of_number = 8;

    void exchange(bool has_sums) {
        const Report all = up(0, has_sums);
        const auto verdict = eddy::detail::RankVerdict::of(all);
        std::int64_t bytes = bytes_of_header + std::int64_t(verdict.write().size());
        if (has_sums) bytes += (num_columns_ - 1) * bytes_of_number;
        down(0, bytes);
    }
    [[nodiscard]] std::vector<int> children(int rank) const {
        return eddy::detail::RankTree{rank, static_cast<int>(work_.size())}.children();
    }
    double& done(int rank) { return done_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] double seconds_of(std::int64_t bytes) const {
        return static_cast<double>(bytes) / network_.bytes_per_second;
    }
    void count(std::int64_t bytes) {
        ++traffic_.messages;
        traffic_.bytes += bytes;
    }

    Report up(int rank, bool has_sums) {
        const auto r = static_cast<std::size_t>(rank);
        Report report;
        report.first_rank = rank;
        report.num_lanes = work_[r].num_lanes;
        if (has_sums)
            report.sums = {run_of(first_lane_[r], work_[r].num_lanes, lanes_per_leaf_, 1)};
        const auto rows = [&] { return has_sums ? report.sums[0].num_rows() : 0; };
        traffic_.most_rows = std::max(traffic_.most_rows, rows());
        for (const int child : children(rank)) {
            const Report next = up(child, has_sums);
            const std::int64_t rows_of_child = has_sums ? next.sums[0].num_rows() : 0;
            const std::int64_t bytes = bytes_of_header + std::int64_t(next.write().size()) +
                                       rows_of_child * (num_columns_ - 1) * bytes_of_number;
            count(bytes);
            const double arrival = done(child) + network_.seconds_per_message + seconds_of(bytes);
            report.append(next);
            done(rank) =
                std::max(done(rank), arrival) +
                static_cast<double>(rows_of_child * num_columns_) / network_.numbers_per_second;
            traffic_.most_rows = std::max(traffic_.most_rows, rows());
        }
        return report;
    }
    void down(int rank, std::int64_t bytes) {
        double sent = done(rank);
        std::int64_t messages = rank == 0 ? 0 : 1;  // the report
        for (const int child : children(rank)) {
            count(bytes);
            ++messages;
            sent += seconds_of(bytes);
            done(child) = sent + network_.seconds_per_message;
            down(child, bytes);
        }
        most_messages_ = std::max(most_messages_, 2 * messages);
        done(rank) = sent;
    }

    std::vector<RankWork> work_;  // (rank)
    std::vector<std::int64_t> first_lane_;
    std::vector<double> done_;  // (rank) when it is through with what was done so far
    std::int64_t lanes_per_leaf_, num_columns_;
    Network network_;
    eddy::detail::RankGroup::Traffic traffic_;
    std::int64_t most_messages_ = 0;
};

}  // namespace support
