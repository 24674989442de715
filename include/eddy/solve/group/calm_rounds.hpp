#pragma once
// Rounds on the way back in which nothing happens but steps of constant size, whose normals, if they have any, the log
// knows: several are pulled back at a time, from the state before the first of them. The states between are
// computed once more, and stay in the first-level cache. Chains are taken in turn, round by round, for
// each is a long chain of operations that wait for each other.

#include <eddy/solve/group/chain_back.hpp>
#include <eddy/solve/lane/chain.hpp>

namespace eddy::inline v0::detail {

/// Where the normals of rounds are: those of the first, and how far apart those of neighbours.
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
    /// As many as are drawn for at a time, of a small state; without noise, sixteen at most.
    static constexpr int most = [] {
        if constexpr (Spec::normals_per_step > 0)
            return Chain<Spec>::keeps_states ? ChainPath<Spec>::Drawn::count : 1;
        else
            return Spec::has_constant_size
                       ? max(1, min(16, 4 * longest_unrolled / Spec::state_size))
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
        for (int i = 0; i < count; ++i) {
            static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
                take(chains[chain], rounds[chain], i, i + 1 < count);
            });
        }
        if constexpr (Spec::parameter_size <= longest_unrolled) {
            Sums sums[num_chains];  // in registers
            static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
                sums[chain] = *chains[chain].sums;
            });
            pull_all(
                chains, rounds, count, [&](int chain) __attribute__((always_inline))->Sums & {
                    return sums[chain];
                });
            static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
                *chains[chain].sums = sums[chain];
            });
        } else {
            pull_all(
                chains, rounds, count, [&](int chain) __attribute__((always_inline))->Sums & {
                    return *chains[chain].sums;
                });
        }
    }

  private:
    /// (round) what they start from.
    struct Rounds {
        static constexpr int num_normals = max(1, Spec::normals_per_step);  // no array is empty
        State y[most];
        Time elapsed[most];
        Single z[most][num_normals];
    };
    /// A round of the way forward, once more.
    [[gnu::always_inline]] EDDY_HD static void take(const OfChain& chain, Rounds& rounds, int i,
                                                    bool goes_on) {
        const ChainStepper<Spec>& steps = *chain.steps;
        if (i == 0) rounds.y[0] = chain.x->y;
        for_components<Spec::normals_per_step>([&](int k) __attribute__((always_inline)) {
            rounds.z[i][k] = chain.normals.first[i * chain.normals.stride + k];
        });
        const Time first = steps.steps_at(chain.x->elapsed);
        rounds.elapsed[i] = steps.after_steps(first + Time(static_cast<double>(i)));
        if (goes_on)
            rounds.y[i + 1] =
                steps.constant_step(rounds.elapsed[i], rounds.y[i], chain.x->memory, rounds.z[i]);
    }
    template <int num_chains, class SumsOf>
    [[gnu::always_inline]] EDDY_HD static void pull_all(const OfChain (&chains)[num_chains],
                                                        const Rounds (&rounds)[num_chains],
                                                        int count, const SumsOf& sums_of) {
        State cotangents[num_chains];
        static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
            cotangents[chain] = *chains[chain].cotangent;
        });
        for (int i = count - 1; i >= 0; --i) {
            static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
                pull_round(chains[chain], rounds[chain], i, cotangents[chain], sums_of(chain));
            });
        }
        static_for<0, num_chains>([&]<int chain>() __attribute__((always_inline)) {
            *chains[chain].cotangent = cotangents[chain];
        });
    }
    [[gnu::always_inline]] EDDY_HD static void pull_round(const OfChain& chain,
                                                          const Rounds& rounds, int i,
                                                          State& cotangent, Sums& sums) {
        NoTimeCotangents none;
        const auto moves = convert<Primal>(select(chain.alive, Time(1), Time(0))) > Primal(0);
        const auto pull_step = [&](const auto& in) __attribute__((always_inline)) {
            typename Stepper::template Linearization<Number, false, false> of_step;
            Stepper::linearize(in, chain.x->memory, of_step);
            const auto adjoint = [&](auto& of_parameters) __attribute__((always_inline)) {
                return Stepper::pull(in, of_step, cotangent, NoDenseCotangent{}, of_parameters,
                                     none);
            };
            pull_masked<Spec>(moves, cotangent, sums, adjoint);
        };
        chain.steps->with_constant_input(rounds.elapsed[i], rounds.y[i], pull_step, rounds.z[i]);
    }
};

}  // namespace eddy::inline v0::detail
