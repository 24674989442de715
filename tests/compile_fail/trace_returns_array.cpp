// expect: trace: the function must return a number, a traced value or a vector of them
// Results are vectors of eddy: a std::array is none.
#include <array>
#include <eddy/trace/evaluate.hpp>

struct Swap {
    constexpr auto operator()(const auto& x) const {
#ifdef EDDY_BAD
        return std::array{x[1], x[0]};
#else
        return eddy::vec(x[1], x[0]);
#endif
    }
};

constexpr auto program = eddy::trace<eddy::Vector<2>>(Swap{});
