#include "fuzz/invariants.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>
#include <sstream>

#include "fuzz/memory.hpp"

namespace fuzz {

namespace {

using Lanes = std::vector<std::ptrdiff_t>;

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

/// The same number: NaN equals NaN, 0 is not −0.
bool same(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::memcmp(&a, &b, sizeof a) == 0;
}
bool same_row(const Table& a, std::ptrdiff_t lane_a, const Table& b, std::ptrdiff_t lane_b) {
    if (a.cols() != b.cols()) return false;
    for (std::ptrdiff_t i = 0; i < a.cols(); ++i) {
        if (!same(a(lane_a, i), b(lane_b, i))) return false;
    }
    return true;
}
bool same_rows(const std::vector<Table>& a, std::ptrdiff_t lane_a, const std::vector<Table>& b,
               std::ptrdiff_t lane_b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (!same_row(a[k], lane_a, b[k], lane_b)) return false;
    }
    return true;
}
bool same_end(const Answer& a, std::ptrdiff_t lane_a, const Answer& b, std::ptrdiff_t lane_b) {
    const auto &x = a.ends[at(lane_a)], &y = b.ends[at(lane_b)];
    const auto &s = a.stats[at(lane_a)], &u = b.stats[at(lane_b)];
    return x.result == y.result && same(x.t, y.t) && x.step == y.step &&
           x.component == y.component && s.accepted == u.accepted && s.rejected == u.rejected &&
           s.evaluations == u.evaluations;
}

Table rows_of(const Table& table, const Lanes& lanes) {
    Table picked(static_cast<std::ptrdiff_t>(lanes.size()), table.cols());
    for (std::ptrdiff_t lane = 0; lane < picked.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < table.cols(); ++i)
            picked(lane, i) = table(lanes[at(lane)], i);
    }
    return picked;
}

std::string lane_text(const Answer& answer, std::ptrdiff_t lane) {
    const auto& end = answer.ends[at(lane)];
    std::ostringstream out;
    out.precision(17);
    out << "lane " << lane << " (" << message(end.result) << ", t = " << end.t << ", accepted "
        << answer.stats[at(lane)].accepted << ", rejected " << answer.stats[at(lane)].rejected
        << ')';
    return out.str();
}

class Checker {
  public:
    Checker(const Scenario& scenario, std::uint64_t seed, Counts& counts,
            const std::function<void(const std::string&)>& tell)
        : scenario_(scenario),
          problem_(*scenario.problem),
          is_(problem_.traits()),
          ask_(scenario.ask),
          random_(seed),
          counts_(counts),
          tell_(tell) {}

    void run() {
        const std::int64_t before = allocated_bytes();
        first_ = call(scenario_.kind, ask_);
        if (threw_) return;
        if (first_.refused) return check_refusal(allocated_bytes() - before);
        if (scenario_.expectation == Expectation::refused) return fail("accepted");
        check_lanes(first_);
        check_steps();
        if (is_.parameter_size == 0 && is_.autonomous) check_nothing_moves();
        if (scenario_.kind != Kind::solve) check_gradient();
        compare();
    }

  private:
    void fail(const std::string& what) {
        ++counts_.failures;
        tell_(what);
    }
    /// One invariant of one lane, or of a call.
    template <class What>
    void require(bool holds, const What& what) {
        if (holds || failed_) return;
        failed_ = true;  // the first of an invariant is enough
        fail(what());
    }

    Answer call(Kind kind, const Ask& ask, const std::vector<Ask>& before = {}) {
        ++counts_.calls;
        Answer answer;
        threw_ = false;
        try {
            answer = problem_.call(kind, ask, before);
        } catch (const std::exception& error) {
            threw_ = true;
            answer.refused = true;
            answer.refusal = error.what();
            fail("an exception that is not InvalidArgument: " + answer.refusal);
        }
        if (answer.refused) ++counts_.refused;
        counts_.lanes += answer.num_lanes();
        return answer;
    }

    void check_refusal(std::int64_t bytes) {
        if (scenario_.expectation == Expectation::accepted) fail("refused: " + first_.refusal);
        if (!is_good_sentence(first_.refusal)) fail("a poor sentence: " + first_.refusal);
        // Solver object and copies of what was passed, no more.
        std::int64_t numbers = 0;
        const eddy::SolveOptions& options = ask_.options;
        for (const auto* list :
             {&options.atol.values, &options.step_to.values, &options.jump_times.values,
              &options.t0.own().values, &options.t1.own().values,
              &options.inputs.values.rows.values, &options.inputs.slopes.rows.values})
            numbers += static_cast<std::int64_t>(list->size());
        const eddy::Impulses& impulses = options.impulses;
        for (const eddy::SaveTimes* list :
             {&options.save_at, &impulses.times,
              static_cast<const eddy::SaveTimes*>(&impulses.components),
              static_cast<const eddy::SaveTimes*>(&impulses.amounts), &options.inputs.knots})
            numbers += static_cast<std::int64_t>(list->values.size() + list->own.values.size());
        for (const Table* table : {&ask_.y0, &ask_.p, &ask_.y0_tangent, &ask_.p_tangent})
            numbers += table->rows() * table->cols();
        for (const Table& table : ask_.seeds) numbers += table.rows() * table.cols();
        if (bytes > (64 << 10) + 64 * numbers)
            fail("work before the error: " + std::to_string(bytes) + " bytes were allocated");
    }

    void check_lanes(const Answer& answer) {
        failed_ = false;
        const auto& options = ask_.options;
        for (std::ptrdiff_t lane = 0; lane < answer.num_lanes(); ++lane) {
            const auto& end = answer.ends[at(lane)];
            const auto& stats = answer.stats[at(lane)];
            const bool success = answer.succeeded(lane);
            const double span = std::fabs(options.t1 - options.t0);
            const auto says = [&](const char* what) {
                return [&answer, lane, what] { return what + (": " + lane_text(answer, lane)); };
            };
            require(!success || same(end.t, options.t1) || end.t == options.t1,
                    says("success, but not at t1"));
            require(std::fabs(end.t - options.t0) <= span * (1 + 1e-15) &&
                        std::fabs(end.t - options.t1) <= span * (1 + 1e-15),
                    says("the end is outside the span"));
            require(stats.accepted >= 0 && stats.rejected >= 0 && stats.evaluations >= 0,
                    says("negative counts"));
            require(stats.accepted + stats.rejected <= options.max_steps,
                    says("more steps than max_steps"));
            require(end.result != eddy::Result::max_steps_reached ||
                        stats.accepted + stats.rejected == options.max_steps,
                    says("max_steps_reached before max_steps"));
            require(end.result != eddy::Result::cancelled || options.cancelled.stop_requested(),
                    says("cancelled by nobody"));
            check_saves(answer, lane, success);
        }
    }

    void check_saves(const Answer& answer, std::ptrdiff_t lane, bool success) {
        bool missing = false;
        const double reached = std::fabs(answer.ends[at(lane)].t - ask_.options.t0);
        for (std::size_t k = 0; k < answer.y.size(); ++k) {
            bool finite = true;
            for (std::ptrdiff_t i = 0; i < answer.y[k].cols(); ++i)
                finite = finite && std::isfinite(answer.y[k](lane, i));
            const auto says = [&](const char* what) {
                return [&, k, what] {
                    return what + (" " + std::to_string(k)) + ": " + lane_text(answer, lane);
                };
            };
            require(finite || !success, says("success, but not finite at save point"));
            // What is observed of a state may be anything.
            if (is_.observes) continue;
            require(!(finite && missing), says("finite after a save point that is not:"));
            missing = missing || !finite;
            if (std::fabs(answer.times[k] - ask_.options.t0) < reached * (1 - 1e-12))
                require(finite || answer.ends[at(lane)].result == eddy::Result::non_finite ||
                            answer.ends[at(lane)].result == eddy::Result::observed_not_finite,
                        says("a state is missing at save point"));
        }
    }

    void check_steps() {
        failed_ = false;
        if (scenario_.kind != Kind::solve || !ask_.options.save_steps) return;
        const double direction = ask_.options.t1 < ask_.options.t0 ? -1 : 1;
        for (std::ptrdiff_t lane = 0; lane < first_.num_lanes(); ++lane) {
            const SavedSteps& steps = first_.steps[at(lane)];
            const auto says = [&](const char* what) {
                return [&, what] { return what + (": " + lane_text(first_, lane)); };
            };
            if (first_.ends[at(lane)].result == eddy::Result::cancelled && steps.t.empty())
                continue;
            require(
                static_cast<std::int64_t>(steps.t.size()) == first_.stats[at(lane)].accepted + 1,
                says("saved steps are not the accepted ones"));
            if (steps.t.empty()) continue;
            require(same(steps.t.front(), ask_.options.t0), says("the first step is not at t0"));
            for (std::size_t k = 1; k < steps.t.size(); ++k)
                require(direction * (steps.t[k] - steps.t[k - 1]) >= 0, says("steps go back"));
            for (const double y : steps.y) require(std::isfinite(y), says("a step is not finite"));
            if (!first_.succeeded(lane)) continue;
            require(same(steps.t.back(), ask_.options.t1), says("the last step is not at t1"));
        }
    }

    /// y' = 0.
    void check_nothing_moves() {
        failed_ = false;
        for (std::ptrdiff_t lane = 0; lane < first_.num_lanes(); ++lane) {
            if (!first_.succeeded(lane)) continue;
            for (const Table& y : first_.y)
                require(same_row(y, lane, ask_.y0, lane),
                        [&] { return "nothing moves, but this does: " + lane_text(first_, lane); });
        }
    }

    void check_gradient() {
        failed_ = false;
        for (std::ptrdiff_t lane = 0; lane < first_.num_lanes(); ++lane) {
            if (first_.succeeded(lane) || first_.y0_gradient.rows() == 0) continue;
            double size = 0;
            for (std::ptrdiff_t i = 0; i < first_.y0_gradient.cols(); ++i)
                size += std::fabs(first_.y0_gradient(lane, i));
            if (first_.p_gradient.rows() == first_.num_lanes() && !is_.shared) {
                for (std::ptrdiff_t i = 0; i < first_.p_gradient.cols(); ++i)
                    size += std::fabs(first_.p_gradient(lane, i));
            }
            require(size == 0,
                    [&] { return "a failed lane has a gradient: " + lane_text(first_, lane); });
            require(first_.loss.empty() || std::isnan(first_.loss[at(lane)]),
                    [&] { return "a failed lane has a loss: " + lane_text(first_, lane); });
        }
    }

    /// One or two of the ways that must not matter.
    void compare() {
        if (cancelled()) return;  // where a lane stops then is not said
        const int count = first_.num_lanes() > 100 ? 1 : 2;
        for (int k = 0; k < count; ++k) {
            failed_ = false;
            switch (random_.below(scenario_.kind == Kind::solve ? 6 : 9)) {
                case 0: compare_neighbours(); break;
                case 1: compare_threads(); break;
                case 2: compare_repeated(); break;
                case 3: compare_saves(); break;
                case 4: compare_backends(); break;
                case 5: compare_steps(); break;
                case 6: compare_memory(); break;
                default: compare_modes(); break;
            }
        }
    }

    /// Lanes `lanes_of_b` of b are those of a, bit for bit. Shared gradients are of all lanes.
    void compare_lanes(const Answer& a, const Answer& b, const Lanes& lanes_of_a, const char* what,
                       bool all_lanes) {
        if (b.refused) {
            require(threw_, [&] { return std::string(what) + ": refused, " + b.refusal; });
            return;
        }
        for (std::ptrdiff_t lane = 0; lane < b.num_lanes(); ++lane) {
            const std::ptrdiff_t other = lanes_of_a[at(lane)];
            ++counts_.comparisons;
            const auto says = [&](const char* which) {
                return [&, which] {
                    return std::string(what) + ", " + which + " differ: " + lane_text(a, other) +
                           " and " + lane_text(b, lane);
                };
            };
            require(same_end(a, other, b, lane), says("outcomes"));
            require(same_rows(a.y, other, b.y, lane), says("states"));
            require(same_rows(a.tangent, other, b.tangent, lane), says("tangents"));
            if (!a.loss.empty()) require(same(a.loss[at(other)], b.loss[at(lane)]), says("losses"));
            for (const auto member :
                 {&Answer::y0_gradient, &Answer::p_gradient, &Answer::t0_gradient,
                  &Answer::t1_gradient, &Answer::save_gradient}) {
                const bool by_lane = member != &Answer::p_gradient || !is_.shared;
                if ((a.*member).rows() == 0 || !by_lane) continue;
                require(same_row(a.*member, other, b.*member, lane), says("gradients"));
            }
        }
        if (all_lanes && is_.shared && a.p_gradient.rows() > 0)
            require(same_row(a.p_gradient, 0, b.p_gradient, 0),
                    [&] { return std::string(what) + ", shared gradients differ"; });
    }
    [[nodiscard]] Lanes all_lanes() const {
        Lanes lanes(at(ask_.y0.rows()));
        std::iota(lanes.begin(), lanes.end(), std::ptrdiff_t{0});
        return lanes;
    }

    void compare_neighbours() {
        Lanes lanes = all_lanes();
        if (lanes.empty()) return;
        for (std::size_t i = lanes.size() - 1; i > 0; --i)
            std::swap(lanes[i], lanes[at(random_.below(static_cast<int>(i) + 1))]);
        lanes.resize(at(1 + random_.below(static_cast<int>(lanes.size()))));
        Ask some = ask_;
        some.y0 = rows_of(ask_.y0, lanes);
        some.y0_tangent = rows_of(ask_.y0_tangent, lanes);
        if (!is_.shared) {
            some.p = rows_of(ask_.p, lanes);
            some.p_tangent = rows_of(ask_.p_tangent, lanes);
        }
        for (Table& seeds : some.seeds) seeds = rows_of(seeds, lanes);
        compare_lanes(first_, call(scenario_.kind, some), lanes, "among other neighbours", false);
    }

    void compare_threads() {
        if (ask_.serial) return;
        Ask other = ask_;
        other.cpu.threads = ask_.cpu.threads == 1 ? 2 : 1;
        compare_lanes(first_, call(scenario_.kind, other), all_lanes(), "on other threads", true);
    }

    /// The same solver object after other calls, one of them refused.
    void compare_repeated() {
        Ask larger = ask_, bad = ask_;
        larger.options.save_at = ask_.options.save_at;
        fill_lanes(problem_, scenario_.kind, random_, 1 + random_.below(50), larger);
        fill_lanes(problem_, scenario_.kind, random_, 3, bad);
        bad.y0(1, 0) = std::numeric_limits<double>::infinity();
        std::vector<Ask> before{larger, bad};
        if (random_.one_in(2)) std::reverse(before.begin(), before.end());
        compare_lanes(first_, call(scenario_.kind, ask_, before), all_lanes(),
                      "by a solver that was used before", true);
    }

    /// Some of the save points only.
    void compare_saves() {
        if (scenario_.kind != Kind::solve || first_.y.size() < 2 || is_.steps_to_saves) return;
        Ask fewer = ask_;
        fewer.options.save_at = {};
        std::vector<std::size_t> kept;
        for (std::size_t k = 0; k < ask_.options.save_at.values.size(); ++k) {
            if (random_.one_in(2)) continue;
            kept.push_back(k);
            fewer.options.save_at.values.push_back(ask_.options.save_at.values[k]);
        }
        if (kept.empty()) return;
        const Answer other = call(Kind::solve, fewer);
        if (other.refused) return compare_lanes(first_, other, {}, "with fewer save points", false);
        for (std::ptrdiff_t lane = 0; lane < first_.num_lanes(); ++lane) {
            if (!first_.succeeded(lane)) continue;  // a save point may be what fails
            ++counts_.comparisons;
            const auto says = [&](const char* what) {
                return [&, what] {
                    return std::string("with fewer save points, ") + what +
                           " differ: " + lane_text(first_, lane) + " and " + lane_text(other, lane);
                };
            };
            require(same_end(first_, lane, other, lane), says("outcomes"));
            for (std::size_t k = 0; k < kept.size(); ++k)
                require(same_row(first_.y[kept[k]], lane, other.y[k], lane), says("states"));
        }
    }

    /// Serial and Cpu, where errors do not grow: to a few tolerances.
    void compare_backends() {
        if (!is_.well_posed || scenario_.kind != Kind::solve || !is_plain()) return;
        if (std::fabs(ask_.options.t1 - ask_.options.t0) > 3.5) return;
        Ask other = ask_;
        other.serial = !ask_.serial;
        const Answer answer = call(Kind::solve, other);
        if (answer.refused) return compare_lanes(first_, answer, {}, "on the other backend", false);
        const auto& atol = ask_.options.atol.values;
        const double largest_atol = *std::max_element(atol.begin(), atol.end());
        const double epsilon = is_.single ? 0x1p-24 : 0x1p-53;
        for (std::ptrdiff_t lane = 0; lane < first_.num_lanes(); ++lane) {
            if (!first_.succeeded(lane) || !answer.succeeded(lane)) continue;
            ++counts_.comparisons;
            double size = 0, distance = 0;
            for (std::size_t k = 0; k < first_.y.size(); ++k) {
                for (std::ptrdiff_t i = 0; i < first_.y[k].cols(); ++i) {
                    size = std::max(size, std::fabs(first_.y[k](lane, i)));
                    distance =
                        std::max(distance, std::fabs(first_.y[k](lane, i) - answer.y[k](lane, i)));
                }
            }
            const auto steps = static_cast<double>(first_.stats[at(lane)].accepted + 1);
            double allowed = 1e3 * epsilon * steps * (size + 1);
            if (is_.adaptive)
                allowed += 30 * steps * (ask_.options.rtol * (size + 1) + largest_atol);
            require(distance <= allowed, [&] {
                return "Serial and Cpu are " + std::to_string(distance / allowed) +
                       " times too far apart: " + lane_text(first_, lane);
            });
        }
    }

    /// With or without every step saved.
    void compare_steps() {
        if (scenario_.kind == Kind::loss) return;
        Ask other = ask_;
        other.options.save_steps = !ask_.options.save_steps;
        compare_lanes(first_, call(scenario_.kind, other), all_lanes(), "with steps saved or not",
                      true);
    }

    /// However much memory.
    void compare_memory() {
        if (scenario_.kind == Kind::pushforward) return;
        Ask other = ask_;
        // Few checkpoints make a long way back quadratic.
        const bool is_short = ask_.options.max_steps <= 100;
        other.options.memory_budget = std::size_t{1} << ((is_short ? 0 : 17) + random_.below(13));
        constexpr std::int64_t few[] = {0, 1, 2, 7, 40}, many[] = {0, 20, 40, 300};
        other.options.checkpoints = is_short ? random_.pick(few) : random_.pick(many);
        compare_lanes(first_, call(scenario_.kind, other), all_lanes(), "in other memory", true);
    }

    /// <J v, w> = <v, J' w>, and the states on the way are those of a solve.
    void compare_modes() {
        const Kind back = scenario_.kind == Kind::loss || !is_.pulls ? Kind::loss : Kind::pullback;
        if (!is_.pushes || (back == Kind::loss && (!is_.loses || is_.observes))) return;
        Ask ask = ask_;
        ask.options.save_steps = false;
        ask.options.stable_gradients = false;  // all along the steps of the solve
        const Answer pushed =
            scenario_.kind == Kind::pushforward ? first_ : call(Kind::pushforward, ask);
        const bool has_pulled = scenario_.kind == back && !ask_.options.stable_gradients;
        const Answer pulled = has_pulled ? first_ : call(back, ask);
        const Answer solved = call(Kind::solve, ask);
        if (pushed.refused || pulled.refused || solved.refused) {
            return require(threw_, [&] {
                return "forward and reverse, refused: " + pushed.refusal + pulled.refusal +
                       solved.refusal;
            });
        }
        Answer primal = pushed;
        primal.tangent.clear();
        compare_lanes(solved, primal, all_lanes(), "with tangents", false);
        Answer on_the_way = pulled;
        on_the_way.y = solved.y;
        Answer states = solved;
        states.y0_gradient = states.p_gradient = {};
        on_the_way.y0_gradient = on_the_way.p_gradient = {};
        on_the_way.t0_gradient = on_the_way.t1_gradient = on_the_way.save_gradient = {};
        on_the_way.loss.clear();
        if (back == Kind::loss) check_infinite_derivatives(pushed, states, on_the_way);
        compare_lanes(states, on_the_way, all_lanes(), "on the way back", false);
        check_products(pushed, pulled, back);
    }

    /// A derivative may be infinite where every value is a number: such a lane fails on the way back
    /// alone, and has a tangent that is not finite, either.
    void check_infinite_derivatives(const Answer& pushed, const Answer& states,
                                    Answer& on_the_way) {
        for (std::ptrdiff_t lane = 0; lane < states.num_lanes(); ++lane) {
            const auto& end = on_the_way.ends[at(lane)];
            if (!states.succeeded(lane) || end.result != eddy::Result::non_finite) continue;
            bool finite = true;
            for (const Table& tangent : pushed.tangent) {
                for (std::ptrdiff_t i = 0; i < tangent.cols(); ++i)
                    finite = finite && std::isfinite(tangent(lane, i));
            }
            require(!finite, [&] {
                return "infinite on the way back alone: " + lane_text(on_the_way, lane);
            });
            on_the_way.ends[at(lane)] = states.ends[at(lane)];
        }
    }

    struct Products {
        double sum = 0, size = 0;
        void add(double a, double b) {
            sum += a * b;
            size += std::fabs(a * b);
        }
    };

    void check_products(const Answer& pushed, const Answer& pulled, Kind back) {
        const double tolerance = is_.single ? 2e-3 : 1e-9;
        Products forward, reverse;
        const auto settle = [&](const std::string& whose) {
            if (std::isfinite(forward.size) && std::isfinite(reverse.size)) {
                ++counts_.comparisons;
                const double size = forward.size + reverse.size + (is_.single ? 1e-30 : 1e-290);
                require(std::fabs(forward.sum - reverse.sum) <= tolerance * size, [&] {
                    std::ostringstream out;
                    out.precision(17);
                    out << "forward is not reverse, " << forward.sum << " and " << reverse.sum
                        << " of sums of " << forward.size << " and " << reverse.size << ": "
                        << whose;
                    return out.str();
                });
            }
            forward = reverse = {};
        };
        double loss = 0, loss_size = 0;
        bool all_failed = pushed.num_lanes() > 0;
        for (std::ptrdiff_t lane = 0; lane < pushed.num_lanes(); ++lane) {
            if (!pulled.succeeded(lane)) continue;
            all_failed = false;
            for (std::size_t k = 0; k < ask_.seeds.size(); ++k) {
                for (std::ptrdiff_t i = 0; i < pushed.tangent[k].cols(); ++i) {
                    forward.add(ask_.seeds[k](lane, i), pushed.tangent[k](lane, i));
                    loss += ask_.seeds[k](lane, i) * pushed.y[k](lane, i);
                    loss_size += std::fabs(ask_.seeds[k](lane, i) * pushed.y[k](lane, i));
                }
            }
            for (std::ptrdiff_t i = 0; i < ask_.y0.cols(); ++i)
                reverse.add(pulled.y0_gradient(lane, i), ask_.y0_tangent(lane, i));
            if (is_.shared) continue;
            for (std::ptrdiff_t i = 0; i < ask_.p.cols(); ++i)
                reverse.add(pulled.p_gradient(lane, i), ask_.p_tangent(lane, i));
            settle(lane_text(pulled, lane));
        }
        if (is_.shared) {
            for (std::ptrdiff_t i = 0; i < ask_.p.cols(); ++i)
                reverse.add(pulled.p_gradient(0, i), ask_.p_tangent(0, i));
            settle("all lanes");
        }
        if (back == Kind::loss && all_failed)
            require(std::isnan(pulled.total_loss),
                    [&] { return std::string("the total over no lane is a number"); });
        else if (back == Kind::loss && std::isfinite(loss_size))
            require(std::fabs(loss - pulled.total_loss) <= tolerance * loss_size + 1e-290,
                    [&] { return std::string("the loss is not that of the states"); });
    }

    [[nodiscard]] bool cancelled() const { return ask_.options.cancelled.stop_requested(); }
    /// Has no option an extreme value?
    [[nodiscard]] bool is_plain() const { return scenario_.expectation == Expectation::accepted; }

    const Scenario& scenario_;
    const Problem& problem_;
    const Traits& is_;
    const Ask& ask_;
    Random random_;
    Counts& counts_;
    const std::function<void(const std::string&)>& tell_;
    Answer first_;
    bool failed_ = false;
    bool threw_ = false;
};

}  // namespace

void check_invariants(const Scenario& scenario, std::uint64_t seed, Counts& counts,
                      const std::function<void(const std::string&)>& tell) {
    Checker(scenario, seed, counts, tell).run();
}

bool is_good_sentence(const std::string& message) {
    const auto colon = message.find(": "), semicolon = message.find("; ");
    return colon != std::string::npos && colon > 0 && semicolon != std::string::npos &&
           colon < semicolon && semicolon + 4 < message.size() && message.size() < 400 &&
           message.find('\n') == std::string::npos;
}

}  // namespace fuzz
