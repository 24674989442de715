// expect: loop: the body must return a state of the same shape as the one it starts from: a number for a number, a vector of as many components, a std::tuple of as many parts
// The state of the next turn takes the place of the state.
#include <eddy/trace/evaluate.hpp>

constexpr auto program = eddy::trace<eddy::Vector<2>>([](const auto& y) {
    return eddy::repeat<3>(y, [](const auto& z) {
#ifdef EDDY_BAD
        return z[0] * z[1];
#else
        return z * 0.5;
#endif
    });
});
