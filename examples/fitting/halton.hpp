#pragma once

namespace fitting {

/// The digits of `index` in base `base`, mirrored at the point: in (0, 1) for index > 0. With a prime
/// for each coordinate, the points of Halton's sequence (Halton 1960, Numer. Math. 2, 84).
[[nodiscard]] inline double radical_inverse(int index, int base) {
    double value = 0, scale = 1;
    for (; index > 0; index /= base) {
        scale /= base;
        value += scale * (index % base);
    }
    return value;
}

}  // namespace fitting
