#!/usr/bin/env python3
"""Prints special_values.hpp: the functions of core/special.hpp at arguments that float holds exactly.

    pip install mpmath
    tests/core/special_values.py | clang-format > tests/core/special_values.hpp
"""
import math
import random
import struct

import mpmath
from mpmath import mp, mpf

mp.dps = 60

functions = {
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "digamma": mpmath.digamma,
    "trigamma": lambda x: mpmath.psi(1, x),
    "tetragamma": lambda x: mpmath.psi(2, x),
    "erfc": mpmath.erfc,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "log_erfc": lambda x: mpmath.log(mpmath.erfc(x)),
}
# Where something changes: zeros, poles, the ends of pieces.
of_gamma = ((1e-30, 1e-3), (0.001, 0.999), (0.99, 1.01), (1, 2), (1.45, 1.475), (1.99, 2.01), (2, 8), (7.5, 8.5), (8, 20), (20, 1e6), (1e6, 1e30),
            (-1, 0), (-8, -1))
of_erf = ((-26, -1), (-1, 0), (-0.01, 0.01), (0, 0.5), (0.49, 0.51), (0.5, 2), (2, 8), (8, 26))
far = ((26, 1e3), (1e3, 1e15))
ranges = {"lgamma": of_gamma, "digamma": of_gamma, "trigamma": of_gamma, "tetragamma": of_gamma[2:10], "erfc": of_erf, "erfcx": of_erf + far,
          "log_erfc": of_erf + far}


def sample(low, high):
    if low > 0 and high / low > 1000:
        x = math.exp(random.uniform(math.log(low), math.log(high)))
    else:
        x = random.uniform(low, high)
    return struct.unpack("f", struct.pack("f", x))[0]


random.seed(1)
print(f"""#pragma once
// Printed by special_values.py with mpmath {mpmath.__version__} in 60 digits; the arguments are exact in float.

namespace support {{

struct SpecialValue {{
    double x, value;
}};
""")
for name, function in functions.items():
    print(f"inline constexpr SpecialValue {name}_values[] = {{")
    for low, high in ranges[name]:
        for _ in range(6):
            x = sample(low, high)
            print(f"    {{{x.hex()}, {mp.nstr(function(mpf(x)), 20, min_fixed=0, max_fixed=1)}}},")
    print("};\n")
print("}  // namespace support")
