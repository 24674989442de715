#pragma once
// Rounds of constant size, far from any landing: nothing but steps. Steps of noise share the normals
// of a block with their neighbours, where all places of a chain are at the same step of a block.
// Test: tests/solve/device_blocks.cpp, tests/solve/times.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/solve/group/round_sight.hpp>
#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct ConstantRounds {
    using Time = typename Spec::Time;
    using Single = typename Spec::Single;
    using State = typename Spec::State;
    using Drawn = typename ChainPath<Spec>::Drawn;
    static constexpr bool draws = Spec::normals_per_step > 0;

    /// A round of constant size, if all chains are far from any landing and stay finite.
    template <class Team, class Loop, class Used>
    EDDY_INLINE EDDY_HD static bool take_round(Team& team, Chain<Spec>* chains, Loop& x,
                                               const ForwardRound<Spec>& round, Used& used) {
        for (int chain = 0; chain < x.count(); ++chain) {
            if (round.number >= chains[chain].constant_until) return false;
        }
        State y[Team::num_chains];
        bool broken = false;
        for (int chain = 0; chain < x.count(); ++chain) {
            const bool is_finite = take_one(chains[chain], x.chain[chain], round.normals.of(chain),
                                            round.problem, y[chain]);
            broken = broken || (!is_finite && chains[chain].is_broken(y[chain]));
        }
        if (team.any(broken)) return false;  // take the round with care
        for (int chain = 0; chain < x.count(); ++chain) {
            const ChainStepper<Spec>& steps = chains[chain].steps;
            x.chain[chain].y = y[chain];
            x.chain[chain].elapsed =
                steps.after_steps(steps.steps_at(x.chain[chain].elapsed) + Time(1));
            used.chain[chain] = Time(round.problem.clock.dt0);
        }
        return true;
    }

    /// Takes as many rounds of constant size as are far from any landing, and their number; none where one
    /// of them would not be finite: all chains are then `constant_until` 0.
    template <class Team, class Loop>
    [[nodiscard]] EDDY_HD static std::int64_t take_stretch(Team& team, Chain<Spec>* chains, Loop& x,
                                                           std::int64_t round,
                                                           const Problem<Spec>& problem) {
        std::int64_t count = longest_stretch;
        for (int chain = 0; chain < x.count(); ++chain)
            count = min(count, chains[chain].constant_until - round);
        if (count <= 0) return 0;
        off_the_hot_path(
            [&team, chains, &problem, count](Loop& at) {
                if (take_if_finite(team, chains, at, count, problem)) return;
                for (int chain = 0; chain < at.count(); ++chain) chains[chain].constant_until = 0;
            },
            x);
        return chains[0].constant_until == 0 ? 0 : count;
    }

    /// The state after one round, and whether it is finite for sure. Its normals are kept where somebody
    /// wants them.
    EDDY_INLINE EDDY_HD static bool take_one(Chain<Spec>& chain, const ChainState<Spec>& at,
                                             [[maybe_unused]] Single* kept,
                                             [[maybe_unused]] const Problem<Spec>& problem,
                                             State& y) {
        const Single* normals = nullptr;
        if constexpr (draws) {
            if (!chain.drawn.has_begun) [[unlikely]]
                begin_drawing(chain, chain.steps.steps_at(at.elapsed), problem.noise);
            if (!chain.drawn.is_in_step) {
                if (kept)
                    chain.steps.path.draw_one(chain.steps.steps_at(at.elapsed), kept,
                                              problem.noise);
                normals = kept;
            } else {
                if (chain.drawn.next == Drawn::count) draw_ahead(chain, at, problem);
                const int step = chain.drawn.next++;
                normals = chain.drawn.z[step];
                if (kept) {
                    for_components<Spec::normals_per_step>(
                        [&](int i) EDDY_INLINE { kept[i] = chain.drawn.z[step][i]; });
                }
                if (chain.has_states) [[likely]] {
                    y = chain.ahead[step];
                    return true;
                }
            }
        }
        y = chain.steps.constant_step(at.elapsed, at.y, at.memory, normals);
        return false;
    }
    /// The normals of a round that is taken with care; what was drawn for later ones is forgotten.
    EDDY_INLINE EDDY_HD static void draw_alone([[maybe_unused]] Chain<Spec>& chain,
                                               [[maybe_unused]] const Time& elapsed,
                                               [[maybe_unused]] Single* kept,
                                               [[maybe_unused]] const Problem<Spec>& problem) {
        if constexpr (draws) {
            chain.forget_drawn();
            if (kept) chain.steps.path.draw_one(chain.steps.steps_at(elapsed), kept, problem.noise);
        }
    }

    /// Takes some rounds of all chains, the first of which comes `first` steps behind its tstop.
    template <int most, class Loop>
    EDDY_INLINE EDDY_HD static void take(Chain<Spec>* chains, Loop& x, const Time (&first)[most],
                                         std::int64_t count, const Problem<Spec>& problem) {
        if constexpr (draws) {
            if (all_begin_drawing(chains, x.count(), first, problem.noise))
                return take_drawn(chains, x, first, count, problem.noise);
        }
        if constexpr (most == 1) {
            // In registers, on a device: what lies in memory, a loop that stores its state loads again.
            const ChainStepper<Spec> steps = chains[0].steps;
            const auto size = problem.size;
            ChainState<Spec> at = x.chain[0];
            const auto step = [&](std::int64_t done) EDDY_INLINE {
                const Time number = first[0] + Time(static_cast<double>(done));
                at.y =
                    steps.constant_step(size, steps.after_steps(number), at.y, at.memory, nullptr);
            };
            std::int64_t done = 0;
            for (; done + steps_at_once <= count; done += steps_at_once)
                static_for<0, steps_at_once>([&]<int i>() EDDY_INLINE { step(done + i); });
            if (steps_at_once > 1 && done < count) step(done);
            x.chain[0].y = at.y;
        } else {
            for (std::int64_t done = 0; done < count; ++done) {
                for (int chain = 0; chain < x.count(); ++chain) {
                    const ChainStepper<Spec>& steps = chains[chain].steps;
                    auto& at = x.chain[chain];
                    const Time number = first[chain] + Time(static_cast<double>(done));
                    at.y = steps.constant_step(steps.after_steps(number), at.y, at.memory);
                }
            }
        }
    }

    /// Takes `count` rounds, and sets their times. False, and x as it was, where some lane is not finite after
    /// them.
    template <class Team, class Loop>
    [[nodiscard]] EDDY_HD static bool take_if_finite(Team& team, Chain<Spec>* chains, Loop& x,
                                                     std::int64_t count,
                                                     const Problem<Spec>& problem) {
        const Loop before = x;
        Time first[std::extent_v<decltype(x.chain)>]{};
        for (int chain = 0; chain < x.count(); ++chain)
            first[chain] = chains[chain].steps.steps_at(x.chain[chain].elapsed);
        take(chains, x, first, count, problem);
        bool broken = false;
        for (int chain = 0; chain < x.count(); ++chain) {
            x.chain[chain].elapsed = chains[chain].steps.after_steps(after(first[chain], count));
            broken = broken || chains[chain].is_broken(x.chain[chain].y);
        }
        broken = team.any(broken);
        if (broken) x = before;
        return !broken;
    }

    /// Takes as many rounds as are drawn for at a time, whose normals are kept: those of a round `per_round` behind
    /// those of the one before. False where they have to be taken one by one: no state has changed then.
    template <class Loop>
    [[nodiscard, gnu::noinline]] EDDY_HD static bool take_block(Chain<Spec>* chains, Loop& x,
                                                                const NormalsOfRound<Spec>& kept,
                                                                std::int64_t per_round,
                                                                const NoisePlan plan) {
        State y[std::extent_v<decltype(x.chain)>];
        for (int chain = 0; chain < x.count(); ++chain) {
            if (!is_at_block(chains[chain], x.chain[chain], plan)) return false;
        }
        for (int chain = 0; chain < x.count(); ++chain) {
            if (!take_kept(chains[chain], x.chain[chain], kept.of(chain), per_round, plan,
                           y[chain]))
                return false;
        }
        for (int chain = 0; chain < x.count(); ++chain) {
            const ChainStepper<Spec>& steps = chains[chain].steps;
            ChainState<Spec>& at = x.chain[chain];
            at.y = y[chain];
            at.elapsed = steps.after_steps(after(steps.steps_at(at.elapsed), Drawn::count));
        }
        return true;
    }

  private:
    /// The end of a loop costs a warp 16 cycles. In single precision ptxas makes two steps wait longer than two rounds.
    static constexpr int steps_at_once = sizeof(typename Spec::Scalar) > sizeof(float) ? 2 : 1;
    /// What of it is taken in vain where a state is not finite, is no more than this.
    static constexpr std::int64_t longest_stretch = 1024;

    /// Does the next round begin a block in all places?
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool is_at_block(Chain<Spec>& chain,
                                                              const ChainState<Spec>& at,
                                                              const NoisePlan& plan) {
        if (!chain.drawn.has_begun) [[unlikely]]
            begin_drawing(chain, chain.steps.steps_at(at.elapsed), plan);
        return chain.drawn.is_in_step && chain.drawn.next == Drawn::count;
    }
    /// False where a state is not finite.
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool take_kept(const Chain<Spec>& chain,
                                                            const ChainState<Spec>& at,
                                                            Single* kept, std::int64_t per_round,
                                                            const NoisePlan& plan,
                                                            State& after_all) {
        const ChainStepper<Spec>& steps = chain.steps;
        const Time first = steps.steps_at(at.elapsed);
        Drawn drawn;
        steps.path.draw(drawn, first, plan);
        State y = at.y;
        Time broken(0);
        static_for<0, Drawn::count>([&]<int step>() EDDY_INLINE {
            y = steps.constant_step(steps.after_steps(first + Time(double{step})), y, at.memory,
                                    drawn.z[step]);
            broken = broken + finiteness<Time>(y);
            for_components<Spec::normals_per_step>(
                [&](int i) EDDY_INLINE { kept[step * per_round + i] = drawn.z[step][i]; });
        });
        after_all = y;
        return !any(chain.occupied & (broken != Time(0)));
    }

    /// Draws for the steps to come, and takes them: states that turn out to be needed are then at hand.
    [[gnu::noinline]] EDDY_HD static void draw_ahead(Chain<Spec>& chain, const ChainState<Spec>& at,
                                                     const Problem<Spec>& problem) {
        const Time first = chain.steps.steps_at(at.elapsed);
        chain.steps.path.draw(chain.drawn, first, problem.noise);
        chain.drawn.next = 0;
        if constexpr (Chain<Spec>::keeps_states) {
            State y = at.y;
            Time broken(0);
            static_for<0, Drawn::count>([&]<int step>() EDDY_INLINE {
                const Time elapsed = chain.steps.after_steps(first + Time(double{step}));
                y = chain.steps.constant_step(elapsed, y, at.memory, chain.drawn.z[step]);
                chain.ahead[step] = y;
                broken = broken + finiteness<Time>(y);
            });
            chain.has_states = !any(chain.occupied & (broken != Time(0)));
        }
    }
    [[gnu::noinline]] EDDY_HD static void begin_drawing(Chain<Spec>& chain, Time steps,
                                                        const NoisePlan& plan) {
        chain.drawn.has_begun = true;
        chain.has_states = false;
        chain.drawn.is_in_step =
            chain.steps.path.begin_drawing(chain.drawn, steps, chain.occupied, plan);
    }
    /// False where some chain is not in step.
    [[nodiscard]] EDDY_HD static bool all_begin_drawing(Chain<Spec>* chains, int count,
                                                        const Time* first, const NoisePlan& plan) {
        bool are_in_step = true;
        for (int chain = 0; chain < count; ++chain) {
            begin_drawing(chains[chain], first[chain], plan);
            are_in_step = are_in_step && chains[chain].drawn.is_in_step;
            chains[chain].forget_drawn();  // of single rounds
        }
        return are_in_step;
    }
    /// `plan` is a copy that nothing can write to: its key is turned into those of the rounds once.
    template <int most, class Loop>
    EDDY_INLINE EDDY_HD static void take_drawn(Chain<Spec>* chains, Loop& x,
                                               const Time (&first)[most], std::int64_t count,
                                               const NoisePlan plan) {
        constexpr std::int64_t width = Drawn::count;
        std::int64_t done[most];
        for (int chain = 0; chain < x.count(); ++chain) {  // what has been drawn already
            done[chain] = min(count, width - chains[chain].drawn.next);
            take_some(chains[chain], x.chain[chain], first[chain], done[chain], plan);
        }
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (int chain = 0; chain < x.count(); ++chain) {
                if (done[chain] + width > count) continue;
                take_all(chains[chain].steps, x.chain[chain], after(first[chain], done[chain]),
                         plan);
                done[chain] += width;
                goes_on = true;
            }
        }
        for (int chain = 0; chain < x.count(); ++chain)
            take_some(chains[chain], x.chain[chain], after(first[chain], done[chain]),
                      count - done[chain], plan);
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD static Time after(const Time& first, std::int64_t steps) {
        return first + Time(static_cast<double>(steps));
    }
    /// Takes as many steps as are drawn for at a time; nobody needs to keep their normals. The state stays in
    /// registers.
    EDDY_INLINE EDDY_HD static void take_all(const ChainStepper<Spec>& steps, ChainState<Spec>& at,
                                             const Time& first, const NoisePlan& plan) {
        Drawn drawn;
        steps.path.draw(drawn, first, plan);
        auto y = at.y;
        static_for<0, Drawn::count>([&]<int step>() EDDY_INLINE {
            y = steps.constant_step(steps.after_steps(first + Time(double{step})), y, at.memory,
                                    drawn.z[step]);
        });
        at.y = y;
    }
    [[gnu::noinline]] EDDY_HD static void take_some(Chain<Spec>& chain, ChainState<Spec>& at,
                                                    const Time& first, std::int64_t count,
                                                    const NoisePlan& plan) {
        for (std::int64_t step = 0; step < count; ++step) {
            const Time number = after(first, step);
            at.y = chain.steps.constant_step(chain.steps.after_steps(number), at.y, at.memory,
                                             chain.steps.path.normals(chain.drawn, number, plan));
        }
    }
};

}  // namespace eddy::inline v0::detail
