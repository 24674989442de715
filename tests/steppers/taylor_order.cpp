// expect: Taylor: the order must be from 2 to 30
#include <eddy/solvers/taylor.hpp>

#ifdef EDDY_BAD
constexpr int order = 1;
#else
constexpr int order = 2;
#endif

static_assert(eddy::Taylor<order>::order == order);
