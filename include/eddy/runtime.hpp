#pragma once
// The light door: equations whose sizes are known when the program runs, solved and differentiated by what the
// library compiled once.
// Test: tests/backends/row_gradient.cpp

#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/euler.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/solvers/vern7.hpp>
