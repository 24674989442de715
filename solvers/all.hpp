#pragma once
// The list of methods, one line each. Order, adaptivity, gradient and device tests pick their
// methods up from here.

#include <eddy/solvers/tsit5.hpp>
