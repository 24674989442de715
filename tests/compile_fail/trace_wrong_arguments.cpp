// expect: trace: the function must be callable with the traced arguments as f\(arguments...\)
#include <eddy/trace/trace.hpp>

#ifdef EDDY_BAD
constexpr auto program =
    eddy::trace<eddy::Vector<2>>([](const auto& y, const auto& p) { return p * y; });
#else
constexpr auto program =
    eddy::trace<eddy::Vector<2>, eddy::Scalar>([](const auto& y, const auto& p) { return p * y; });
#endif
