#pragma once
// The files that are left: the fan as a CSV, a gnuplot script, and the picture that it makes.

#include "../fitting/output_files.hpp"
#include "cox_ingersoll_ross.hpp"
#include "fan.hpp"
#include "rates.hpp"
#include "unknowns.hpp"

namespace short_rate {

struct Fits {
    Unknowns simulated, euler;
    CoxIngersollRoss cox_ingersoll_ross;
};

void write_files(const fitting::OutputFiles& files, const Rates& rates, const Fits& fits,
                 const Fan& fan);

}  // namespace short_rate
