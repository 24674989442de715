// expect: evaluate: an argument has another shape than the program was traced with
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Vector<1>>([](const auto& x) { return 2 * x[0]; });
#ifdef EDDY_BAD
const double twice = program(1.0);
#else
const double twice = program(eddy::Vec<double, 1>{1});
#endif
