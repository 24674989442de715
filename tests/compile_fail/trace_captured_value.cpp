// expect: trace: the function must be an empty functor or a captureless lambda; pass values as arguments
// A program is a type: what the functor holds at run time would not be part of it.
#include <eddy/trace/trace.hpp>

#ifdef EDDY_BAD
inline auto program = [](double rate) {
    return eddy::trace<eddy::Vector<2>>([rate](const auto& y) { return rate * y; });
}(0.5);
#else
constexpr auto program = eddy::trace<eddy::Vector<2>, eddy::Scalar>(
    [](const auto& y, const auto& rate) { return rate * y; });
#endif
