// Equations of one name in unnamed namespaces of two shared libraries are two: each library solves its own.
#include <cmath>
#include <cstdio>

double end_of_first();
double end_of_second();

int main() {
    const double first = end_of_first(), second = end_of_second();
    std::printf("exp(-1) %.6f, exp(-2) %.6f\n", first, second);
    return std::abs(first - std::exp(-1.0)) < 1e-4 && std::abs(second - std::exp(-2.0)) < 1e-4 ? 0
                                                                                               : 1;
}
