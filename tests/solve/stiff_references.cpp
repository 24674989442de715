// Stiff problems to their known ends by Rosenbrock methods, in the steps that they are known to take: four by every method, the large ones
// by some.

#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas4p.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/ros34pw2.hpp>
#include <eddy/solvers/rosenbrock23.hpp>
#include <vector>

#include "solve/stiff_references.hpp"

namespace {

using support::BrusselatorEnd, support::ChemicalAkzoEnd, support::check_end, support::E5End,
    support::HiresEnd, support::LongBrusselatorEnd, support::OregonatorEnd, support::Reached,
    support::RingModulatorEnd, support::RobertsonEnd, support::VanDerPolEnd;

/// Attempts for an error, from solves at tolerances an eighth of a decade apart. An error counts as the largest at its
/// tolerance or a tighter one, for it may be small by accident.
template <class Problem, class Method>
double attempts_for(const Method& method, double error) {
    std::vector<Reached> reached;
    for (double rtol = 1e-2; rtol > 1e-11; rtol *= std::pow(10., -0.125)) {
        reached.push_back(support::reach<Problem>(method, rtol));
        if (reached.back().error < 0.02 * error) break;
    }
    for (std::size_t i = reached.size() - 1; i-- > 0;) {
        const Reached &loose = reached[i], &tight = reached[i + 1];
        if (loose.error > error) {
            const double part = std::log(loose.error / error) / std::log(loose.error / tight.error);
            return static_cast<double>(loose.attempts) *
                   std::pow(
                       static_cast<double>(tight.attempts) / static_cast<double>(loose.attempts),
                       part);
        }
    }
    return 0;
}

}  // namespace

TEST_CASE("stiff references: Robertson's reactions over eleven decades") {
    check_end<RobertsonEnd>(eddy::Rosenbrock23{}, {437, 8664, 208401});
    check_end<RobertsonEnd>(eddy::Rodas3{}, {161, 1386, 37832});
    check_end<RobertsonEnd>(eddy::ROS34PW2{}, {338, 3187, 31642});
    check_end<RobertsonEnd>(eddy::Rodas4{}, {156, 803, 12068});
    check_end<RobertsonEnd>(eddy::Rodas4P{}, {146, 767, 4438});
    check_end<RobertsonEnd>(eddy::Rodas5P{}, {129, 431, 2379});
}

TEST_CASE("stiff references: HIRES") {
    check_end<HiresEnd>(eddy::Rosenbrock23{}, {308, 4696, 57740});
    check_end<HiresEnd>(eddy::Rodas3{}, {185, 3214, 56945});
    check_end<HiresEnd>(eddy::ROS34PW2{}, {161, 1489, 14209});
    check_end<HiresEnd>(eddy::Rodas4{}, {91, 856, 12298});
    check_end<HiresEnd>(eddy::Rodas4P{}, {92, 560, 4183});
    check_end<HiresEnd>(eddy::Rodas5P{}, {64, 410, 2856});
}

TEST_CASE("stiff references: the Oregonator") {
    check_end<OregonatorEnd>(eddy::Rosenbrock23{}, {1221, 16965, 211642});
    check_end<OregonatorEnd>(eddy::Rodas3{}, {877, 13563, 192324});
    check_end<OregonatorEnd>(eddy::ROS34PW2{}, {753, 7237, 70714});
    check_end<OregonatorEnd>(eddy::Rodas4{}, {416, 3435, 36270});
    check_end<OregonatorEnd>(eddy::Rodas4P{}, {427, 2565, 17059});
    check_end<OregonatorEnd>(eddy::Rodas5P{}, {315, 1670, 9748});
}

TEST_CASE("stiff references: Van der Pol with mu = 1e6") {
    check_end<VanDerPolEnd>(eddy::Rosenbrock23{}, {933, 15430, 254547});
    check_end<VanDerPolEnd>(eddy::Rodas3{}, {604, 8024, 142860});
    check_end<VanDerPolEnd>(eddy::ROS34PW2{}, {638, 6228, 62510});
    check_end<VanDerPolEnd>(eddy::Rodas4{}, {325, 2218, 31783});
    check_end<VanDerPolEnd>(eddy::Rodas4P{}, {321, 1847, 12275});
    check_end<VanDerPolEnd>(eddy::Rodas5P{}, {229, 1107, 6933});
}

TEST_CASE("stiff references: E5 over thirteen decades, down to 1e-22") {
    check_end<E5End>(eddy::Rosenbrock23{}, {1349, 34650, 1019121});
    check_end<E5End>(eddy::Rodas4P{}, {237, 1537, 12971});
    check_end<E5End>(eddy::Rodas5P{}, {185, 1203, 7611});
}

TEST_CASE("stiff references: the Brusselator with diffusion") {
    check_end<BrusselatorEnd>(eddy::ROS34PW2{}, {65, 580, 5774});
    check_end<BrusselatorEnd>(eddy::Rodas5P{}, {37, 102, 378});
    check_end<LongBrusselatorEnd>(eddy::Rodas5P{}, {34, 101, 382});
}

TEST_CASE("stiff references: Akzo Nobel's reaction, which begins without its equilibrium") {
    check_end<ChemicalAkzoEnd>(eddy::Rodas3{}, {76, 1217, 13639});
    check_end<ChemicalAkzoEnd>(eddy::Rodas4{}, {41, 334, 2369});
    check_end<ChemicalAkzoEnd>(eddy::Rodas5P{}, {32, 171, 868});
}

TEST_CASE("stiff references: a ring modulator") {
    check_end<RingModulatorEnd>(eddy::Rodas4P{}, {68813, 318661, 1706813}, 4);
    check_end<RingModulatorEnd>(eddy::Rodas5P{}, {38567, 117365, 432629}, 4);
}

TEST_CASE("stiff references: attempts of Rodas5P at an error that is reached") {
    // At most 15 % more than a prototype with the same controller, which was not run at tolerances where Robertson's end is exact by
    // accident.
    const auto check = []<class Problem>(Problem, double error, double known) {
        const double attempts = attempts_for<Problem>(eddy::Rodas5P{}, error);
        CAPTURE(Problem::state_size, error, attempts, known);
        CHECK(attempts > 0);
        CHECK(attempts <= 1.15 * known);
    };
    check(RobertsonEnd{}, 1e-5, 125);
    check(RobertsonEnd{}, 1e-6, 216);
    check(HiresEnd{}, 1e-5, 102);
    check(HiresEnd{}, 1e-6, 155);
    check(HiresEnd{}, 1e-8, 336);
    check(OregonatorEnd{}, 1e-4, 272);
    check(OregonatorEnd{}, 1e-5, 406);
    check(OregonatorEnd{}, 1e-6, 730);
    check(VanDerPolEnd{}, 1e-4, 192);
    check(VanDerPolEnd{}, 1e-5, 317);
}

TEST_CASE("stiff references: Rodas4 takes the steps of Hairer and Wanner's RODAS") {
    // Measured with their program, release of 1996, at the same tolerances.
    const auto check = []<class Problem>(Problem, double rtol, double known) {
        const auto attempts =
            static_cast<double>(support::reach<Problem>(eddy::Rodas4{}, rtol).attempts);
        CAPTURE(Problem::state_size, rtol, attempts, known);
        CHECK(std::abs(attempts / known - 1) <= 0.15);
    };
    check(RobertsonEnd{}, 1e-4, 155);
    check(RobertsonEnd{}, 1e-6, 459);
    check(HiresEnd{}, 1e-4, 94);
    check(HiresEnd{}, 1e-6, 370);
    check(HiresEnd{}, 1e-8, 2103);
    check(OregonatorEnd{}, 1e-4, 420);
    check(OregonatorEnd{}, 1e-6, 1512);
    check(VanDerPolEnd{}, 1e-4, 328);
    check(VanDerPolEnd{}, 1e-6, 1072);
}
