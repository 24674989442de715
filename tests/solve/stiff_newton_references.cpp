// Stiff problems to their known ends by every diagonally implicit method, in the steps that it is known to take.

#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/trbdf2.hpp>

#include "solve/stiff_references.hpp"

using support::BrusselatorEnd, support::check_end, support::HiresEnd, support::OregonatorEnd,
    support::ReducedE5End, support::RobertsonEnd, support::VanDerPolEnd;

TEST_CASE("stiff references, Newton: Robertson's reactions over eleven decades") {
    check_end<RobertsonEnd>(eddy::TRBDF2{}, {340, 3172, 31511});
    check_end<RobertsonEnd>(eddy::Kvaerno3{}, {415, 3956, 39415});
    check_end<RobertsonEnd>(eddy::KenCarp4{}, {87, 463, 3686}, 2);
    check_end<RobertsonEnd>(eddy::Kvaerno5{}, {78, 241, 1126});
}

TEST_CASE("stiff references, Newton: HIRES") {
    check_end<HiresEnd>(eddy::TRBDF2{}, {136, 1267, 13566});
    check_end<HiresEnd>(eddy::Kvaerno3{}, {164, 1571, 16580});
    check_end<HiresEnd>(eddy::KenCarp4{}, {50, 300, 2020});
    check_end<HiresEnd>(eddy::Kvaerno5{}, {65, 229, 1543});
}

TEST_CASE("stiff references, Newton: the Oregonator") {
    check_end<OregonatorEnd>(eddy::TRBDF2{}, {726, 6900, 70122});
    check_end<OregonatorEnd>(eddy::Kvaerno3{}, {875, 8593, 87550});
    check_end<OregonatorEnd>(eddy::KenCarp4{}, {239, 1203, 7580}, 2);
    check_end<OregonatorEnd>(eddy::Kvaerno5{}, {367, 983, 5332});
}

TEST_CASE("stiff references, Newton: Van der Pol with mu = 1e6") {
    check_end<VanDerPolEnd>(eddy::TRBDF2{}, {619, 6012, 60990});
    check_end<VanDerPolEnd>(eddy::Kvaerno3{}, {766, 7497, 76151});
    check_end<VanDerPolEnd>(eddy::KenCarp4{}, {194, 986, 6762});
    check_end<VanDerPolEnd>(eddy::Kvaerno5{}, {244, 688, 3786});
}

TEST_CASE("stiff references, Newton: E5 over thirteen decades, down to 1e-22") {
    check_end<ReducedE5End>(eddy::TRBDF2{}, {627, 6014, 59551});
    check_end<ReducedE5End>(eddy::Kvaerno3{}, {766, 7521, 74534});
    check_end<ReducedE5End>(eddy::KenCarp4{}, {188, 1347, 11705}, 2);
    check_end<ReducedE5End>(eddy::Kvaerno5{}, {137, 931, 4989});
}

TEST_CASE("stiff references, Newton: the Brusselator with diffusion") {
    check_end<BrusselatorEnd>(eddy::TRBDF2{}, {65, 585, 5814});
    check_end<BrusselatorEnd>(eddy::Kvaerno3{}, {79, 730, 7274});
    check_end<BrusselatorEnd>(eddy::KenCarp4{}, {22, 75, 384});
    check_end<BrusselatorEnd>(eddy::Kvaerno5{}, {30, 56, 212});
}
