#pragma once
// What ranks tell each other before and after their work. Reports go up a tree of ranks, two neighbouring ones
// becoming one on the way, and the verdict comes down: the same for all.
// Test: tests/solve/ranks.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ranks/leaf_run.hpp>
#include <eddy/solve/ranks/node_sum.hpp>
#include <eddy/solve/ranks/rank_wire.hpp>
#include <string>
#include <vector>

namespace eddy::inline v0::detail {

/// What ends a call on all ranks.
struct RankFailure {
    enum class Kind : std::int32_t { none, bad_argument, differs, exception, missing, left };
    Kind kind = Kind::none;
    std::int32_t rank = -1;  // where it happened
    std::string text;

    static void members(auto& self, const auto& visit) { visit(self.kind, self.rank, self.text); }
    [[nodiscard]] explicit operator bool() const { return kind != Kind::none; }
    /// Is there no further call?
    [[nodiscard]] bool is_for_good() const { return kind == Kind::missing || kind == Kind::left; }
};

/// What all ranks must be given alike, in the order in which a difference is told.
struct CallPrint {
    enum Item : int { version, call, equation, options, parameters, num_items };
    std::uint64_t items[num_items]{};
};

/// What one rank reports, or several neighbouring ones.
struct EDDY_EXPORT RankReport {
    std::int32_t first_rank = 0;
    std::int64_t num_lanes = 0;
    CallPrint print;
    RankFailure failure;
    std::vector<LeafRun> sums;
    RankWire::Message rows{};  // for all ranks, in their order
    NodeSum nodes{};           // whoever has done them

    static void members(auto& self, const auto& visit) {
        visit(self.first_rank, self.num_lanes, self.print, self.failure, self.sums, self.rows,
              self.nodes);
    }
    /// Takes in that of the ranks behind; the first failure stays, or the first for good.
    void append(const RankReport& next);
    [[nodiscard]] RankWire::Message write() const;
    [[nodiscard]] static RankReport read(const std::byte* message);
};

struct EDDY_EXPORT RankVerdict {
    std::int64_t first_lane = 0, num_lanes = 0;  // of the rank that it is sent to; of all
    RankFailure failure;
    std::vector<std::vector<double>> totals;  // of RankReport::sums, then of its nodes
    RankWire::Message rows{};                 // of all ranks

    static void members(auto& self, const auto& visit) {
        visit(self.first_lane, self.num_lanes, self.failure, self.totals, self.rows);
    }
    [[nodiscard]] static RankVerdict of(RankReport all);
    [[nodiscard]] RankWire::Message write() const;
    [[nodiscard]] static RankVerdict read(const std::byte* message);
};

}  // namespace eddy::inline v0::detail
