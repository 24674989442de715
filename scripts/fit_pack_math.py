#!/usr/bin/env python3
"""Fits the polynomials of include/eddy/core/simd/coefficients.hpp, or those of include/eddy/core/special_coefficients.hpp,
and prints that file.

Each is the minimax polynomial of a smooth function under a weight, found by Remez's exchange algorithm
(Remez 1934, C. R. Acad. Sci. Paris 198, 2063) in 60-digit arithmetic and then rounded to the target type.
The weight turns an error of the polynomial into a relative error of the function that uses it, which is
what is printed beside each table: log2 of the largest weighted error before rounding.

    pip install mpmath
    scripts/fit_pack_math.py | clang-format > include/eddy/core/simd/coefficients.hpp
    scripts/fit_pack_math.py special | clang-format > include/eddy/core/special_coefficients.hpp
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, log, exp, expm1, sin, cos, asin, atan, tanh, erf, erfc, sqrt, pi, cbrt
from mpmath import loggamma, digamma, psi, findroot

mp.dps = 60


def remez(function, weight, low, high, degree):
    """Coefficients (constant first) and the weighted error of the minimax polynomial on [low, high]."""
    low, high = mpf(low), mpf(high)
    count = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    samples = 24 * count
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (samples - 1)) for i in range(samples)]
    values = [(x, function(x), weight(x)) for x in grid]
    coefficients, error = None, None
    for _ in range(30):
        system, right = matrix(count, count), matrix(count, 1)
        for row, x in enumerate(nodes):
            for column in range(degree + 1):
                system[row, column] = x**column
            system[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = function(x)
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [(w * (polynomial(coefficients, x) - f), x) for x, f, w in values]
        extrema = alternating_extrema(errors, count)
        worst = max(abs(e) for e, _ in errors)
        levelled = abs(solution[degree + 1])
        nodes = [x for _, x in extrema]
        error = worst
        if worst < levelled * mpf("1.01"):
            break
    return coefficients, error


def polynomial(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def alternating_extrema(errors, count):
    """The largest error of each run of one sign, cut down to `count` of them from the weaker end."""
    runs = []
    for error, x in errors:
        if runs and (runs[-1][0] > 0) == (error > 0):
            if abs(error) > abs(runs[-1][0]):
                runs[-1] = (error, x)
        else:
            runs.append((error, x))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][0]) < abs(runs[-1][0]) else -1)
    assert len(runs) == count, "the exchange lost an extremum: raise the working precision"
    return runs


ln2_half = log(2) / 2
quarter_pi = pi / 4
log_z = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
atan_z = (sqrt(2) - 1) ** 2


def log_series(z):
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) / s - 2) / z


# The tail of erf: exp(x²)·erfc(x) as a polynomial in t = (x − 2) / (x + 2).
def erfc_x(t):
    return 2 * (1 + t) / (1 - t)


erf_split, erf_end = mpf(1), {"double": mpf(6), "float": mpf(4)}


def erfc_t(x):
    return (x - 2) / (x + 2)


def tail_end(real):
    return erfc_t(erf_end[real])


# tanh is 1/2 here: a unit in its last place below is half of one above.
tanh_split = log(3) / 2


def tanh_power_weight(r):
    """What an error of (e^(2r) − 1) / r does to tanh x, at worst: x = r + n ln 2 / 2, from the split on."""
    x = r + log(2)
    return (1 - tanh(x if x >= tanh_split else x + ln2_half) ** 2) / 2 * abs(r) / exp(2 * r)


# No interval has a removable singularity on its grid: those at 0 start beside it, or are not symmetric about it.
tiny = mpf(10) ** -8

# name, comment, function, weight, interval (by type), degree (by type)
tables = [
    ("ExpTail", "(e^r − 1 − r) / r² on |r| ≤ ln 2 / 2", lambda r: (expm1(r) - r) / r**2,
     lambda r: abs(r**2 / expm1(r)), lambda real: (-ln2_half * mpf("1.0002"), ln2_half * mpf("1.00021")), {"double": 10, "float": 4}),
    ("LogTail", "(log((1+s)/(1−s))/s − 2) / z in z = s², |s| ≤ (√2−1)/(√2+1)", log_series,
     lambda z: z / 2, lambda real: (tiny, log_z), {"double": 6, "float": 2}),
    ("LogLongTail", "the same without its constant 2/3 and divided by z, for the 65-bit logarithm of pow",
     lambda z: (log_series(z) - mpf(2) / 3) / z, lambda z: z**2 / 2, lambda real: (tiny, log_z), {"double": 7}),
    ("SinTail", "(sin(r)/r − 1) / z in z = r², |r| ≤ π/4", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z,
     lambda z: z * sqrt(z) / sin(sqrt(z)), lambda real: (tiny, quarter_pi**2 * mpf("1.0001")), {"double": 5, "float": 2}),
    ("CosTail", "(cos(r) − 1 + z/2) / z² in z = r², |r| ≤ π/4", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2,
     lambda z: z**2 / cos(sqrt(z)), lambda real: (tiny, quarter_pi**2 * mpf("1.0001")), {"double": 5, "float": 2}),
    ("AsinTail", "(asin(x)/x − 1) / z in z = x², |x| ≤ 1/2", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z,
     lambda z: z * sqrt(z) / asin(sqrt(z)), lambda real: (tiny, mpf("0.25")), {"double": 12, "float": 4}),
    ("AtanTail", "(atan(x)/x − 1) / z in z = x², |x| ≤ tan(π/8)", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z,
     lambda z: z * sqrt(z) / atan(sqrt(z)), lambda real: (tiny, atan_z * mpf("1.001")), {"double": 10, "float": 4}),
    ("TanhTail", "(tanh(x)/x − 1) / z in z = x², tanh |x| ≤ 1/2", lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z,
     lambda z: z * sqrt(z) / tanh(sqrt(z)), lambda real: (tiny, tanh_split**2), {"double": 9, "float": 3}),
    ("TanhPower", "(e^(2r) − 1) / r on |r| ≤ ln 2 / 4, for 1 − 2 / (e^(2x) + 1) ≥ 1/2", lambda r: expm1(2 * r) / r,
     tanh_power_weight,
     lambda real: (-ln2_half / 2 * mpf("1.0002"), ln2_half / 2 * mpf("1.00021")), {"double": 10, "float": 4}),
    ("ErfCentre", "erf(x)/x − 1 in z = x², |x| ≤ 1", lambda z: erf(sqrt(z)) / sqrt(z) - 1,
     lambda z: sqrt(z) / erf(sqrt(z)), lambda real: (tiny, erf_split**2), {"double": 11, "float": 6}),
    ("ErfcTail", "exp(x²)·erfc(x) in t = (x−2)/(x+2), from x = 1 to 6 (double) or 4 (float)",
     lambda t: exp(erfc_x(t) ** 2) * erfc(erfc_x(t)), lambda t: exp(-erfc_x(t) ** 2) / erf(erfc_x(t)),
     lambda real: (erfc_t(erf_split), tail_end(real)), {"double": 12, "float": 5}),
    ("CbrtStart", "the cube root on [√½, √2], to half the digits", cbrt, lambda m: 1 / cbrt(m),
     lambda real: (sqrt(mpf(1) / 2), sqrt(2)), {"double": 6, "float": 3}),
]


# The functions of statistics, in z = 3/2 + s on 1 ≤ z ≤ 2.
digamma_root = findroot(digamma, mpf("1.4616321449683623"))


def lgamma_centre(s):
    z = s + mpf(3) / 2
    return loggamma(z) / ((z - 1) * (z - 2))


def digamma_centre(s):
    z = s + mpf(3) / 2
    return psi(1, digamma_root) if abs(z - digamma_root) < tiny**3 else digamma(z) / (z - digamma_root)


# exp(x²)·erfc(x)·(1 + 2x) for all x ≥ 0, in t = (x − 3.75) / (x + 3.75) (Shepherd & Laframboise 1981, Math. Comp. 36, 249).
def scaled_erfc(t):
    if t == 1:
        return 2 / sqrt(pi)
    x = mpf("3.75") * (1 + t) / (1 - t)
    if x < 200:
        return (1 + 2 * x) * exp(x**2) * erfc(x)
    series, term = mpf(0), mpf(1)
    for i in range(20):
        series, term = series + term, -term * (2 * i + 1) / (2 * x**2)
    return (1 + 2 * x) * series / (x * sqrt(pi))


half = mpf(1) / 2
special_tables = [
    ("LgammaCentre", "log Γ(z) / ((z − 1)·(z − 2)) in s = z − 3/2, 1 ≤ z ≤ 2", lgamma_centre, lambda s: 1 / lgamma_centre(s),
     lambda real: (tiny - half, half - tiny), {"double": 21, "float": 9}),
    ("DigammaCentre", "ψ(z) / (z − its root) in s = z − 3/2, 1 ≤ z ≤ 2", digamma_centre, lambda s: 1 / digamma_centre(s),
     lambda real: (tiny - half, half - tiny), {"double": 22, "float": 10}),
    ("ScaledErfc", "exp(x²)·erfc(x)·(1 + 2x) in t = (x − 3.75) / (x + 3.75), x ≥ 0", scaled_erfc, lambda t: 1 / scaled_erfc(t),
     lambda real: (mpf(-1), mpf(1)), {"double": 25, "float": 11}),
]

if __name__ == "__main__":
    is_special = sys.argv[1:] == ["special"]
    namespace = "detail" if is_special else "simd"
    print(f"""#pragma once
// Minimax polynomials, constant first, printed by scripts/fit_pack_math.py{" special" if is_special else ""}; it says what weight each was fitted under.
// "2^-57" beside a table is the largest relative error that the polynomial adds to the function.

namespace eddy::inline v0::{namespace} {{
""")
    for name, comment, function, weight, interval, degrees in special_tables if is_special else tables:
        print(f"/// {comment}.\ntemplate <class Real>\nstruct {name};")
        for real, degree in degrees.items():
            low, high = interval(real)
            coefficients, error = remez(function, weight, low, high, degree)
            digits, suffix = (17, "") if real == "double" else (9, "f")
            print(f"// 2^{float(log(error, 2)):.1f}", file=sys.stdout)
            print(f"{name} {real} 2^{float(log(error, 2)):.1f}", file=sys.stderr)
            print(f"template <>\nstruct {name}<{real}> {{\n    static constexpr {real} coefficients[] = {{")
            for c in coefficients:
                print(f"        {mp.nstr(c, digits, min_fixed=0, max_fixed=1)}{suffix},")
            print("    };\n};")
        print()
    print(f"}}  // namespace eddy::inline v0::{namespace}")
