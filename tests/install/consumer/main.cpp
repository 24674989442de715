// Headers, solvers, library and flags arrive with the target: this program asks for nothing but
// eddy::eddy.
#include <cstdio>
#include <cstdlib>
#include <eddy/eddy.hpp>
#include <eddy/solvers/all.hpp>
#ifdef CONSUMER_HAS_CUDA
#include <eddy/backends/cuda.hpp>
#endif

double square_less(double a, double b);  // product.cpp

// Beyond the loop limit of g++ and the step limit of clang, unless eddy's flags arrived.
constexpr int count_to(int last) {
    int count = 0;
    while (count < last) ++count;
    return count;
}
static_assert(count_to(1'000'000) == 1'000'000);

static_assert(EDDY_VERSION >= 100 && EDDY_VERSION_MAJOR < 10);

int main() {
    int sum = 0;
    eddy::static_for<0, 4>([&]<int i>() { sum += i; });
    eddy::internal_check(sum == 6, "the library is linked");

    // a*a rounds to exactly b; a contracted a*a - b would give the rounding error, 2^-60.
    volatile double volatile_a = 1 + 0x1p-30, volatile_b = 1 + 0x1p-29;
    const double a = volatile_a, b = volatile_b;
    if (a * a - b != 0) {
        std::puts("the compiler contracted a*a - b: -ffp-contract=off did not arrive");
        return EXIT_FAILURE;
    }
    const bool contracts = square_less(a, b) != 0;
    if (contracts != CONSUMER_CONTRACTS) {
        std::printf("a source that includes nothing of eddy %s contracted: its flags went %s\n",
                    contracts ? "is" : "is not", contracts ? "nowhere" : "too far");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
