// expect: no matching function for call to .static_for
// A range of static_for is part of its type: a bound that is known only at run time is refused.
#include <eddy/core/static_for.hpp>

int sum_of_indices() {
#ifdef EDDY_BAD
    int count = 3;
#else
    constexpr int count = 3;
#endif
    int sum = 0;
    eddy::static_for<0, count>([&]<int i>() { sum += i; });
    return sum;
}
