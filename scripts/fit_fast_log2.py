#!/usr/bin/env python3
"""Prints the polynomials of include/eddy/steppers/controller/fast_log2.hpp, constant first, with their largest error.

log2(1 + f) = f·P(f) and 2^r = 1 + r·Q(r): the factors f and r keep log2(1) = 0 and 2^0 = 1 exact. P is weighted by |f|, for
the absolute error of the logarithm; Q by |r / 2^r|, for the relative error of the power. Fitted by scripts/fit_pack_math.py.

    pip install mpmath
    scripts/fit_fast_log2.py
"""
from fit_pack_math import exp, expm1, log, mp, mpf, remez, sqrt

# The intervals are not symmetric about 0, so that no point of the grid is the removable singularity there.
fits = [
    ("log2(1 + f) / f, absolute error of log2", lambda f: log(1 + f, 2) / f, abs, (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1), 7),
    ("(2^r − 1) / r, relative error of 2^r", lambda r: expm1(r * log(2)) / r, lambda r: abs(r) / exp(r * log(2)),
     (mpf("-0.5002"), mpf("0.50021")), 4),
]

for title, function, weight, (low, high), degree in fits:
    coefficients, error = remez(function, weight, low, high, degree)
    print(f"{title}: {mp.nstr(error, 3)}")
    print("  " + ", ".join(f"{mp.nstr(c, 9, min_fixed=0, max_fixed=1)}f" for c in coefficients))
