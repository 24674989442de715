#pragma once
// The list of methods. Order, adaptivity, gradient and device tests pick their methods up from
// here.

#include <eddy/solvers/align.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/cash_karp.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/dri1.hpp>
#include <eddy/solvers/euler.hpp>
#include <eddy/solvers/euler_heun.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/solvers/fehlberg45.hpp>
#include <eddy/solvers/fehlberg78.hpp>
#include <eddy/solvers/general_shark.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/midpoint.hpp>
#include <eddy/solvers/milstein.hpp>
#include <eddy/solvers/quicsort.hpp>
#include <eddy/solvers/ralston.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas4p.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/ros34pw2.hpp>
#include <eddy/solvers/rosenbrock23.hpp>
#include <eddy/solvers/sea.hpp>
#include <eddy/solvers/shark.hpp>
#include <eddy/solvers/slow_rk.hpp>
#include <eddy/solvers/sosra.hpp>
#include <eddy/solvers/sosri.hpp>
#include <eddy/solvers/spark.hpp>
#include <eddy/solvers/sra1.hpp>
#include <eddy/solvers/sriw1.hpp>
#include <eddy/solvers/taylor.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/solvers/vern7.hpp>

namespace eddy::inline v0 {

/// A list of methods.
template <class... Method>
struct MethodList {
    static constexpr int size = sizeof...(Method);

    /// Calls `body.template operator()<Method>()` for each method, in order.
    template <class Body>
    static constexpr void for_each(Body&& body) {
        (body.template operator()<Method>(), ...);
    }
};

/// Every explicit Runge–Kutta method of this folder.
using AllMethods = MethodList<Euler, Heun, Midpoint, Ralston, Bosh3, RK4, Fehlberg45, CashKarp,
                              Dopri5, Tsit5, Vern7, Dopri8, Fehlberg78>;

/// Every Rosenbrock method of this folder.
using RosenbrockMethods = MethodList<Rosenbrock23, Rodas3, ROS34PW2, Rodas4, Rodas4P, Rodas5P>;

/// Every diagonally implicit method of this folder.
using EsdirkMethods = MethodList<TRBDF2, Kvaerno3, KenCarp4, Kvaerno5>;

/// Every method of this folder that is for stochastic equations alone.
using AllStochasticMethods = MethodList<EulerMaruyama, Milstein, EulerHeun, SPaRK, GeneralShARK,
                                        SRIW1, SOSRI, SlowRK, DRI1, SEA, SRA1, ShARK, SOSRA>;

}  // namespace eddy::inline v0
