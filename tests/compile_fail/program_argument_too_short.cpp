// expect: evaluate: an argument has another shape than the program was traced with
// It would be read past its end.
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Vector<2>>([](const auto& x) { return x[0] + x[1]; });
#ifdef EDDY_BAD
const eddy::Vec<double, 1> x{1};
#else
const eddy::Vec<double, 2> x{1, 2};
#endif
const double sum = program(x);
