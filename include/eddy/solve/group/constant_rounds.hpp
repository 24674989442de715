#pragma once
// Rounds of constant size, far from any landing: nothing but steps. Steps of noise share the normals
// of a block with their neighbours, where all places of a chain are at the same step of a block.

#include <eddy/core/static_for.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct ConstantRounds {
    using Time = typename Spec::Time;
    using Single = typename Spec::Single;
    static constexpr bool draws = Spec::normals_per_step > 0;
    static constexpr std::int64_t steps_of_block = steps_to_a_block(Spec::num_noises);

    /// The normals of one round, null where each place has to draw its own; kept where somebody wants
    /// them.
    [[nodiscard, gnu::always_inline]] EDDY_HD static const Single* draw(
        [[maybe_unused]] Chain<Spec>& chain, [[maybe_unused]] const Time& elapsed,
        [[maybe_unused]] Single* kept, [[maybe_unused]] const Problem<Spec>& problem) {
        if constexpr (!draws) {
            return nullptr;
        } else {
            const Time steps = chain.steps.steps_at(elapsed);
            if (!chain.drawn.has_begun) [[unlikely]]
                begin_drawing(chain, steps, problem.noise);
            if (!chain.drawn.is_in_step) {
                if (kept) chain.steps.path.draw_one(steps, kept, problem.noise);
                return kept;
            }
            const Single* const drawn = chain.steps.path.normals(chain.drawn, steps, problem.noise);
            if (kept) {
                for_components<Spec::normals_per_step>([&](int i) __attribute__((always_inline)) {
                    kept[i] = drawn[i];
                });
            }
            return drawn;
        }
    }
    /// Those of a round that is taken with care; what was drawn for later ones is forgotten.
    [[gnu::always_inline]] EDDY_HD static void draw_alone(
        [[maybe_unused]] Chain<Spec>& chain, [[maybe_unused]] const Time& elapsed,
        [[maybe_unused]] Single* kept, [[maybe_unused]] const Problem<Spec>& problem) {
        if constexpr (draws) {
            chain.drawn.has_begun = false;
            if (kept) chain.steps.path.draw_one(chain.steps.steps_at(elapsed), kept, problem.noise);
        }
    }

    /// So many rounds of all chains, the first of which comes `first` steps behind its tstop.
    template <class Loop>
    [[gnu::always_inline]] EDDY_HD static void take(Chain<Spec>* chains, Loop& x, const Time* first,
                                                    std::int64_t count,
                                                    const Problem<Spec>& problem) {
        if constexpr (draws) {
            if (all_begin_drawing(chains, x.count(), first, problem.noise))
                return take_drawn(chains, x, first, count, problem.noise);
        }
        for (std::int64_t done = 0; done < count; ++done) {
            for (int chain = 0; chain < x.count(); ++chain) {
                const ChainStepper<Spec>& steps = chains[chain].steps;
                auto& at = x.chain[chain];
                const Time number = first[chain] + Time(static_cast<double>(done));
                at.y = steps.constant_step(steps.after_steps(number), at.y, at.memory);
            }
        }
    }

  private:
    [[gnu::noinline]] EDDY_HD static void begin_drawing(Chain<Spec>& chain, Time steps,
                                                        const NoisePlan& plan) {
        chain.drawn.has_begun = true;
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
            chains[chain].drawn.has_begun = false;  // of single rounds
        }
        return are_in_step;
    }
    /// `plan` is a copy that nothing can write to: its key is turned into those of the rounds once.
    template <class Loop>
    [[gnu::always_inline]] EDDY_HD static void take_drawn(Chain<Spec>* chains, Loop& x,
                                                          const Time* first, std::int64_t count,
                                                          const NoisePlan plan) {
        for (std::int64_t done = 0; done < count; done += steps_of_block) {
            const std::int64_t end = min(count, done + steps_of_block);
            for (int number = 0; number < x.count(); ++number) {
                Chain<Spec>& chain = chains[number];
                const Time steps = first[number] + Time(static_cast<double>(done));
                if (chain.drawn.next == steps_of_block && end - done == steps_of_block) [[likely]]
                    take_block(chain.steps, x.chain[number], steps, plan);
                else
                    take_some(chain, x.chain[number], steps, static_cast<int>(end - done), plan);
            }
        }
    }
    /// As many steps as share their normals, which nobody needs to keep.
    [[gnu::always_inline]] EDDY_HD static void take_block(const ChainStepper<Spec>& steps,
                                                          ChainState<Spec>& at, const Time& first,
                                                          const NoisePlan& plan) {
        typename ChainPath<Spec>::Drawn drawn;
        steps.path.draw(drawn, first, plan);
        static_for<0, static_cast<int>(steps_of_block)>([&]<int step>() __attribute__((
            always_inline)) {
            at.y = steps.constant_step(steps.after_steps(first + Time(double{step})), at.y,
                                       at.memory, drawn.z[step]);
        });
    }
    [[gnu::noinline]] EDDY_HD static void take_some(Chain<Spec>& chain, ChainState<Spec>& at,
                                                    const Time& first, int count,
                                                    const NoisePlan& plan) {
        for (int step = 0; step < count; ++step) {
            const Time number = first + Time(static_cast<double>(step));
            at.y = chain.steps.constant_step(chain.steps.after_steps(number), at.y, at.memory,
                                             chain.steps.path.normals(chain.drawn, number, plan));
        }
    }
};

}  // namespace eddy::inline v0::detail
