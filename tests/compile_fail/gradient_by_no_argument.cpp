// expect: derivative: the program has no argument of this number
// Arguments count from 0.
#include <eddy/ad/gradient.hpp>
#include <eddy/trace/trace.hpp>

#ifdef EDDY_BAD
constexpr int argument = 1;
#else
constexpr int argument = 0;
#endif

constexpr auto product = eddy::trace<eddy::Vector<2>>([](const auto& x) { return x[0] * x[1]; });
constexpr auto slope = eddy::gradient<argument>(product);
