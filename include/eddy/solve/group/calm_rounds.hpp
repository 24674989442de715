#pragma once
// Rounds on the way back in which nothing happens but steps of constant size, whose normals, if they have any, the log
// knows: several are pulled back at a time, from the state before the first of them. The states between are
// computed once more, and stay in the first-level cache. Chains are taken in turn, round by round, for
// each is a long chain of operations that wait for each other.
// Test: tests/solve/device_blocks.cpp

#include <eddy/solve/group/chain_back.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

/// The place of the normals of rounds: those of the first, and how far apart those of neighbours
/// are.
template <class Spec>
struct LoggedNormals {
    const typename Spec::Single* first;
    std::int64_t stride;
};

template <class Spec>
class CalmRounds {
    using Time = typename Spec::Time;
    using Number = typename Spec::Number;
    using Primal = typename Spec::Primal;
    using Single = typename Spec::Single;
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;

  public:
    /// Rounds that are pulled back at once: as many as are drawn for at a time, of a small state; without noise, as many as half a kilobyte has room
    /// for, of which the first-level cache of a device holds those of all its threads.
    static constexpr int most = [] {
        if constexpr (Spec::normals_per_step > 0)
            return Chain<Spec>::keeps_states ? ChainPath<Spec>::Drawn::count : 1;
        else
            return Spec::has_constant_size
                       ? max(1, min(32, static_cast<int>(512 / (Spec::state_size *
                                                                sizeof(typename Spec::Lane)))))
                       : 1;
    }();
    using Sums = Vec<Number, Spec::parameter_room>;

    /// What a chain brings along.
    struct OfChain {
        const ChainStepper<Spec>* steps;
        const ChainState<Spec>* x;  // before the first round
        LoggedNormals<Spec> normals;
        MaskOf<Time> alive;
        State* cotangent;  // of the state after the last round; then of x
        Sums* sums;
    };

    /// Pulls `count` rounds of so many chains back, at most `most`, for the lanes that are alive.
    template <int num_chains>
    EDDY_HD static void pull(const OfChain (&chains)[num_chains], int count) {
        Rounds rounds[num_chains];
        take_again(chains, rounds, count);
        if constexpr (Spec::parameter_size <= longest_unrolled) {
            Sums sums[num_chains];  // in registers
            static_for<0, num_chains>([&]<int chain>()
                                          EDDY_INLINE { sums[chain] = *chains[chain].sums; });
            pull_all(chains, rounds, count,
                     [&](int chain) EDDY_INLINE -> Sums& { return sums[chain]; });
            static_for<0, num_chains>([&]<int chain>()
                                          EDDY_INLINE { *chains[chain].sums = sums[chain]; });
        } else {
            pull_all(chains, rounds, count,
                     [&](int chain) EDDY_INLINE -> Sums& { return *chains[chain].sums; });
        }
    }

  private:
    /// (round) what they start from.
    struct Rounds {
        static constexpr int num_normals = max(1, Spec::normals_per_step);  // no array is empty
        State y[most];
        Single z[most][num_normals];
    };
    [[nodiscard]] EDDY_INLINE EDDY_HD static Time elapsed_at(const OfChain& chain,
                                                             const ChainStepper<Spec>& steps,
                                                             int i) {
        const Time first = steps.steps_at(chain.x->elapsed);
        return steps.after_steps(first + Time(static_cast<double>(i)));
    }
    /// Rounds of the way forward, once more.
    template <int num_chains>
    EDDY_INLINE EDDY_HD static void take_again(const OfChain (&chains)[num_chains],
                                               Rounds (&rounds)[num_chains], int count) {
        if constexpr (num_chains == 1) {
            // In registers, on a device: what lies in memory, a loop that stores its states loads again.
            const ChainStepper<Spec> steps = *chains[0].steps;
            const auto size = steps.constant_size();
            State y = chains[0].x->y;
            for (int i = 0; i + 1 < count; ++i) {
                keep(chains[0], rounds[0], i, y);
                take(chains[0], steps, size, rounds[0], i, y);
            }
            keep(chains[0], rounds[0], count - 1, y);
        } else {
            State y[num_chains];
            for (int chain = 0; chain < num_chains; ++chain) y[chain] = chains[chain].x->y;
            for (int i = 0; i < count; ++i) {
                static_for<0, num_chains>([&]<int chain>() EDDY_INLINE {
                    const ChainStepper<Spec>& steps = *chains[chain].steps;
                    keep(chains[chain], rounds[chain], i, y[chain]);
                    if (i + 1 < count)
                        take(chains[chain], steps, steps.constant_size(), rounds[chain], i,
                             y[chain]);
                });
            }
        }
    }
    EDDY_INLINE EDDY_HD static void keep(const OfChain& chain, Rounds& rounds, int i,
                                         const State& y) {
        rounds.y[i] = y;
        for_components<Spec::normals_per_step>([&](int k) EDDY_INLINE {
            rounds.z[i][k] = chain.normals.first[i * chain.normals.stride + k];
        });
    }
    template <class Size>
    EDDY_INLINE EDDY_HD static void take(const OfChain& chain, const ChainStepper<Spec>& steps,
                                         const Size& size, const Rounds& rounds, int i, State& y) {
        y = steps.constant_step(size, elapsed_at(chain, steps, i), y, chain.x->memory, rounds.z[i]);
    }
    template <int num_chains, class SumsOf>
    EDDY_INLINE EDDY_HD static void pull_all(const OfChain (&chains)[num_chains],
                                             const Rounds (&rounds)[num_chains], int count,
                                             const SumsOf& sums_of) {
        State cotangents[num_chains];
        static_for<0, num_chains>(
            [&]<int chain>() EDDY_INLINE { cotangents[chain] = *chains[chain].cotangent; });
        for (int i = count - 1; i >= 0; --i) {
            static_for<0, num_chains>([&]<int chain>() EDDY_INLINE {
                pull_round(chains[chain], rounds[chain], i, cotangents[chain], sums_of(chain));
            });
        }
        static_for<0, num_chains>(
            [&]<int chain>() EDDY_INLINE { *chains[chain].cotangent = cotangents[chain]; });
    }
    EDDY_INLINE EDDY_HD static void pull_round(const OfChain& chain, const Rounds& rounds, int i,
                                               State& cotangent, Sums& sums) {
        NoTimeCotangents none;
        const auto moves = places_of<Primal, Time>(chain.alive);
        const auto pull_step = [&](const auto& in) EDDY_INLINE {
            typename Stepper::template Linearization<Number, false, false> of_step;
            Stepper::linearize(in, chain.x->memory, of_step);
            const auto adjoint = [&](auto& of_parameters) EDDY_INLINE {
                return Stepper::pull(in, of_step, cotangent, NoDenseCotangent{}, of_parameters,
                                     none);
            };
            pull_masked<Spec>(moves, cotangent, sums, adjoint);
        };
        chain.steps->with_constant_input(elapsed_at(chain, *chain.steps, i), rounds.y[i], pull_step,
                                         rounds.z[i]);
    }
};

}  // namespace eddy::inline v0::detail
