// expect: differentiable: a policy with values is a template argument, as in differentiable<Policy\{5\}>\(program\)
// A program is split when it is compiled: a policy that is an argument comes too late.
#include <eddy/ad/linearize.hpp>
#include <eddy/trace/evaluate.hpp>

struct LongerThan {
    int limit = 3;
    constexpr eddy::Saving operator()(const eddy::Candidate& value) const {
        return value.size > limit ? eddy::Saving::save : eddy::Saving::recompute;
    }
};

constexpr auto program = eddy::trace<eddy::Vector<4>>([](const auto& x) { return sin(sin(x)); });
#ifdef EDDY_BAD
constexpr auto few = eddy::differentiable(program, LongerThan{5});
#else
constexpr auto few = eddy::differentiable<LongerThan{5}>(program);
#endif
