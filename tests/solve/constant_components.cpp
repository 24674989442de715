// Components that do not change beside an oscillator: it takes the steps that it takes by itself, and has the
// same bits, whatever the method, the norm and the machine.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/sosri.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

#include "solve/emulated_device.hpp"
#include "support/catch.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
using eddy::Cpu, eddy::Serial, eddy::Tiles;

constexpr auto swing(const auto& position, const auto& velocity, const auto& p) {
    return eddy::vec(velocity, -p[0] * position);
}
/// An oscillator, then constants.
template <int constants>
struct Before {
    static constexpr int state_size = 2 + constants, parameter_size = 1, first = 0;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        if constexpr (constants == 0)
            return swing(y[0], y[1], p);
        else
            return eddy::concat(swing(y[0], y[1], p), eddy::constant<constants>);
    }
};
/// Constants, half of them as people write them, then an oscillator.
template <int constants>
struct Behind {
    static constexpr int state_size = 2 + constants, parameter_size = 1, first = constants;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::concat(eddy::concat(0.0 * eddy::slice<0, constants / 2>(y),
                                         eddy::constant<constants - constants / 2>),
                            swing(y[constants], y[constants + 1], p));
    }
};
/// M = diag(2, 1, 1): the last component is constant, as its row says nothing of the others.
template <bool is_apart>
struct Heavy {
    static constexpr int state_size = 3, parameter_size = 1;
    static constexpr double mass[3][3] = {{2, 0, 0}, {0, 1, 0}, {is_apart ? 0 : 0.5, 0, 1}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], -p[0] * y[0], 0.0);
    }
};
template <int constants>
struct Shaken {
    static constexpr int state_size = 2 + constants, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        return Before<constants>{}(t, y, p);
    }
    constexpr auto diffusion(auto, const auto&, const auto&) const {
        eddy::Vec<double, state_size> noise{};
        noise[1] = 0.1;
        return noise;
    }
};
struct Overflowing {  // 0 · exp(y) is no number where exp(y) is infinite
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(y[1], 0.0 * eddy::exp(y[0]));
    }
};
struct AtRest {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto&, const auto&) const { return eddy::vec(0.0, 0.0); }
};

template <class Field>
using CountedOf = eddy::detail::CountedComponents<eddy::TermOf<Field>>;
static_assert(CountedOf<Before<0>>::are_all);
static_assert(CountedOf<Before<3>>::count == 2 && CountedOf<Before<3>>::component.of[1] == 1);
static_assert(CountedOf<Behind<3>>::count == 2 && CountedOf<Behind<3>>::component.of[0] == 3);
static_assert(CountedOf<Heavy<true>>::count == 2 && CountedOf<Heavy<false>>::count == 3);
static_assert(CountedOf<Shaken<5>>::count == 2 && CountedOf<Overflowing>::are_all);
static_assert(CountedOf<AtRest>::are_all, "where nothing changes, norms are those of all");

constexpr std::ptrdiff_t num_lanes = 5;
const eddy::SolveOptions options{.t1 = 20, .rtol = 1e-5, .atol = 1e-5, .save_at = {7.3, 20}};

template <class Field>
Array starts() {
    Array y0(num_lanes, Field::state_size, 0.5);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, Field::first) = 1 + 0.125 * static_cast<double>(lane);
        y0(lane, Field::first + 1) = 0;
    }
    return y0;
}
Array springs() {
    Array p(num_lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        p(lane, 0) = 1 + 0.5 * static_cast<double>(lane);
    return p;
}

/// The steps of both, and the bits of their oscillators, are the same.
template <class Field, class Single, class Other>
void check_same(const Single& expected, const Other& got) {
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        CHECK(got.stats(lane).accepted == expected.stats(lane).accepted);
        CHECK(got.stats(lane).rejected == expected.stats(lane).rejected);
        for (std::ptrdiff_t k = 0; k < 2; ++k) {
            for (int i = 0; i < 2; ++i)
                CHECK(got.y(k)(lane, Field::first + i) == expected.y(k)(lane, i));
            for (int i = 0; i < Field::state_size - 2; ++i)
                CHECK(got.y(k)(lane, (Field::first + 2 + i) % Field::state_size) == 0.5);
        }
    }
}
template <class... Fields, class Method, class... Extras>
void check(const Method& method, const Extras&... extras) {
    const Array p = springs();
    const auto by_itself =
        eddy::solve(Before<0>{}, method, starts<Before<0>>(), p, options, extras...);
    REQUIRE(by_itself.success());
    (check_same<Fields>(by_itself,
                        eddy::solve(Fields{}, method, starts<Fields>(), p, options, extras...)),
     ...);
}

}  // namespace

TEST_CASE("constant components: 16 and 64 of them change no step, on packs, one lane, tiles") {
    check<Behind<64>>(eddy::Tsit5{}, Cpu{.threads = 1});
    check<Before<16>>(eddy::Tsit5{}, Serial{});
    check<Behind<64>>(eddy::Tsit5{}, Tiles{});
    check<Behind<16>>(eddy::Tsit5{}, Tiles{}, eddy::JointController{});
}

TEST_CASE("constant components: nor on devices") {
    check<Behind<16>>(eddy::Tsit5{}, support::EmulatedDevice{});
}

TEST_CASE("constant components: nor of a method with two error estimates, nor of implicit ones") {
    check<Behind<5>>(eddy::Dopri8{}, Cpu{.threads = 1});
    check<Behind<5>>(eddy::Rodas5P{}, Cpu{.threads = 1});
    check<Behind<5>>(eddy::Kvaerno5{}, Cpu{.threads = 1});
}

TEST_CASE("constant components: nor where tangents count in the norm") {
    auto with_tangents = options;
    with_tangents.tangents_in_error_norm = true;
    const auto pushed = [&]<class Field>(Field) {
        const Array y0 = starts<Field>(), p = springs();
        return eddy::pushforward(Field{}, eddy::Tsit5{}, y0, p, y0, p, with_tangents, Serial{});
    };

    check_same<Behind<16>>(pushed(Before<0>{}), pushed(Behind<16>{}));
}

TEST_CASE("constant components: nor with noise") {
    const auto shaken = [&]<class Field>(Field) {
        Array y0(num_lanes, Field::state_size, 0.5);
        return eddy::solve(
            Field{}, eddy::SOSRI{}, y0, springs(),
            {.t1 = 2, .rtol = 1e-3, .atol = 1e-3, .dt0 = 0.25, .seed = 7, .noise_cell = 0.25},
            eddy::PIDController{.pcoeff = 0.1, .icoeff = 0.3});
    };

    const auto by_itself = shaken(Shaken<0>{});
    const auto beside = shaken(Shaken<16>{});

    REQUIRE(by_itself.total_stats().rejected > 0);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        CHECK(beside.stats(lane).accepted == by_itself.stats(lane).accepted);
        CHECK(beside.y()(lane, 0) == by_itself.y()(lane, 0));
    }
}
