// expect: where a function of std:: takes it, call eddy's of the same name, such as eddy::sin\(x\) or eddy::lgamma\(x\)
// A likelihood that counts.
#include <cmath>
#include <eddy/trace/evaluate.hpp>

constexpr auto loss = eddy::trace<eddy::Scalar>([](const auto& x) {
#ifdef EDDY_BAD
    return std::lgamma(x + 1);
#else
    return eddy::lgamma(x + 1);
#endif
});
