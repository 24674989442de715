// Times of each trajectory's own against common times, impulses against stops, and parameters from a table against
// copies by hand: gradients of 1,000 trajectories on one thread.

#include <algorithm>
#include <cstdint>
#include <eddy/eddy.hpp>
#include <functional>
#include <limits>
#include <vector>

#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;
using Array = eddy::EnsembleArray<double>;
constexpr std::ptrdiff_t lanes = 1'000;

struct Absorption {  // from gut to blood, slower by day
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto absorbed = p[0] * y[0];
        return eddy::vec(-absorbed, absorbed - p[1] * (1 + 0.1 * sin(p[2] * t)) * y[1]);
    }
};
struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return dot(r, r);
    }
};

/// Numbers of a fixed sequence in [0, 1).
double part_of(std::ptrdiff_t i) {
    const double x = static_cast<double>(i) * 0.6180339887498949;
    return x - static_cast<double>(static_cast<std::ptrdiff_t>(x));
}

struct Study {
    Array y0, p;

    explicit Study(std::ptrdiff_t count = lanes) : y0(count, 2, 0), p(count, 3, 0) {
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            y0(lane, 0) = 1 + 0.1 * part_of(lane);
            p(lane, 0) = 1 + 0.2 * part_of(lane);
            p(lane, 1) = 0.2 + 0.05 * part_of(lane + 7);
            p(lane, 2) = 0.26;
        }
    }
    /// Of all trajectories, of a gradient at one save point.
    [[nodiscard]] double attempts(const eddy::SolveOptions& options) const {
        const auto found =
            eddy::value_and_gradient(Absorption{}, eddy::Tsit5{}, SquaredError{}, Array(1, 2, 0.3),
                                     y0, p, options, eddy::Cpu{.threads = 1});
        std::int64_t sum = 0;
        for (std::ptrdiff_t lane = 0; lane < found.report.num_lanes(); ++lane) {
            const eddy::LaneStats stats = found.report.stats(lane);
            sum += stats.accepted + stats.rejected;
        }
        return static_cast<double>(sum);
    }
    [[nodiscard]] auto gradients(const eddy::SolveOptions& options, std::size_t num_saves) const {
        return [this, data = std::vector<Array>(num_saves, Array(1, 2, 0.3)),
                solver = eddy::gradient_solver(Absorption{}, eddy::Tsit5{}, SquaredError{}, options,
                                               eddy::Cpu{.threads = 1})]() mutable {
            kept = solver(data, y0, p).loss.total;
        };
    }
};

/// (trajectory, point): `count(lane)` points from 0 to `end(lane)`, filled up with NaN.
template <class Count, class End>
Array points(std::ptrdiff_t rows, std::ptrdiff_t most, const Count& count, const End& end) {
    Array times(rows, most, std::numeric_limits<double>::quiet_NaN());
    for (std::ptrdiff_t lane = 0; lane < rows; ++lane) {
        for (std::ptrdiff_t k = 0; k < count(lane); ++k)
            times(lane, k) =
                end(lane) * static_cast<double>(k + 1) / static_cast<double>(count(lane));
    }
    return times;
}

void print_own_times() {
    Study study;
    const std::vector<double> common{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22};
    const auto eleven = [](std::ptrdiff_t) { return 11; };
    const auto own =
        points(lanes, 11, eleven, [](std::ptrdiff_t lane) { return 20 + 4 * part_of(lane); });
    const auto equal = points(lanes, 11, eleven, [](std::ptrdiff_t) { return 22.; });

    Race race;
    const int of_list = race.add(1, study.gradients({.t1 = 22, .save_at = common}, 11));
    const int of_own = race.add(1, study.gradients({.t1 = 24, .save_at = eddy::each(own)}, 11));
    const int of_equal = race.add(1, study.gradients({.t1 = 22, .save_at = eddy::each(equal)}, 11));
    race.run(31);
    print_row("11 times of their own, time over common times", "<= 1.3",
              nanoseconds(race.time(of_own)), text("%.3f", race.ratio(of_own, of_list)), "");
    print_row("each(array), all equal: speed of one list", ">= 0.97",
              nanoseconds(race.time(of_equal)), text("%.3f", race.ratio(of_list, of_equal)), "");
}

/// Spans 1 : 30 and 1 to 200 save points: ten kinds together, each among 1,000 of its kind, and one trajectory
/// of each alone.
void print_spans() {
    Study study, one(1);
    constexpr std::ptrdiff_t num_kinds = 10;
    const auto span = [](std::ptrdiff_t lane) {
        return 2 * (1 + 29. * static_cast<double>(lane % num_kinds) / (num_kinds - 1));
    };
    const auto count = [](std::ptrdiff_t lane) {
        return std::max<std::ptrdiff_t>(1, lane % num_kinds * 200 / (num_kinds - 1));
    };
    const Array times = points(lanes, 200, count, span);
    std::vector<double> ends(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        ends[lane] = span(static_cast<std::ptrdiff_t>(lane));
    std::vector<std::function<void()>> of_kinds, of_one;
    for (std::ptrdiff_t k = 0; k < num_kinds; ++k) {
        std::vector<double> list;
        for (std::ptrdiff_t point = 0; point < count(k); ++point) list.push_back(times(k, point));
        const eddy::SolveOptions options{.t1 = span(k), .save_at = list};
        of_kinds.emplace_back(study.gradients(options, list.size()));
        of_one.emplace_back(one.gradients(options, list.size()));
    }

    Race race;
    const int together =
        race.add(1, study.gradients({.t1 = eddy::each(ends), .save_at = eddy::each(times)}, 200));
    const int apart = race.add(num_kinds, [&] {
        for (const auto& call : of_kinds) call();
    });
    const int alone = race.add(static_cast<double>(num_kinds) / lanes, [&] {
        for (const auto& call : of_one) call();
    });
    race.run(11);
    const std::string time = nanoseconds(race.time(together));
    print_row("spans 1 : 30, 1 to 200 points: speed of each alone", ">= 0.9", time,
              text("%.3f", race.ratio(alone, together)), "");
    print_row("the same: speed of each among 1,000 of its kind", "", time,
              text("%.3f", race.ratio(apart, together)), "");
}

/// A hundred doses against a hundred stops: per attempted step, for a dose makes a step shorter that a stop leaves
/// as it is.
void print_impulses() {
    const Study study;
    std::vector<double> times;
    for (int k = 0; k < 100; ++k) times.push_back(0.22 * k);

    Race race;
    std::vector<double> attempts;
    const auto add = [&](const eddy::SolveOptions& options) {
        attempts.push_back(study.attempts(options));
        return race.add(attempts.back() / lanes, study.gradients(options, 1));
    };
    const auto with_doses = [&](double amount) {
        return add({.t1 = 22, .impulses = {.times = times, .amounts = amount}});
    };
    const int of_stops = add({.t1 = 22, .step_to = times});
    const int of_nothing = with_doses(0), of_doses = with_doses(0.01);
    race.run(11);
    const auto print = [&](const char* what, int arm) {
        const auto number = static_cast<std::size_t>(arm);
        print_row(what, "<= 1.3", nanoseconds(race.time(arm)),
                  text("%.3f", race.ratio(arm, of_stops)),
                  text("%.1f attempts a trajectory", attempts[number] / lanes));
    };
    print("100 stops, a step", of_stops);
    print("100 impulses of nothing, a step, over 100 stops", of_nothing);
    print("100 doses, a step, over 100 stops", of_doses);
}

/// Rates of 50 conditions, read by 20 trajectories each.
void print_tables() {
    constexpr int num_conditions = 50;
    Study study;
    Array theta(1, 2 + num_conditions, 0.2);
    theta(0, 0) = 1;
    theta(0, 1) = 0.26;
    std::vector<int> numbers(3 * lanes);
    for (int lane = 0; lane < lanes; ++lane) {
        int* const of_lane = &numbers[static_cast<std::size_t>(3 * lane)];
        of_lane[0] = 0;
        of_lane[1] = 2 + lane % num_conditions;
        of_lane[2] = 1;
    }
    const eddy::EnsembleView<const int> index{numbers.data(), lanes, 3, 3, 1};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (std::ptrdiff_t i = 0; i < 3; ++i) study.p(lane, i) = theta(0, index(lane, i));
    }
    auto solver = eddy::gradient_solver(Absorption{}, eddy::Tsit5{}, SquaredError{}, {.t1 = 22},
                                        eddy::Cpu{.threads = 1});
    const Array data(1, 2, 0.3);
    Array sum(1, 2 + num_conditions, 0);

    Race race;
    const int of_table = race.add(
        1, [&] { kept = solver(data, study.y0, eddy::selected(theta, index)).gradient.p(0, 0); });
    const int of_copies = race.add(1, [&] {  // as one does it by hand
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            for (std::ptrdiff_t i = 0; i < 3; ++i) study.p(lane, i) = theta(0, index(lane, i));
        }
        const auto& result = solver(data, study.y0, study.p);
        sum.assign(1, 2 + num_conditions, 0);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            for (std::ptrdiff_t i = 0; i < 3; ++i)
                sum(0, index(lane, i)) += result.gradient.p(lane, i);
        }
        kept = sum(0, 0);
    });
    race.run(101);
    print_row("selected(theta, index): speed of copies", ">= 0.97",
              nanoseconds(race.time(of_table)), text("%.3f", race.ratio(of_copies, of_table)), "");
}

}  // namespace

int main() {
    print_heading(
        "Data as they come: gradients of 1,000 trajectories, Tsit5, rtol 1e-6, one thread",
        "Time per call; medians of interleaved rounds.");
    print_own_times();
    print_spans();
    print_impulses();
    print_tables();
}
