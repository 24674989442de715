// expect: remat: inside a function that is traced at compile time a policy with values is a template argument
// What a trace at compile time keeps of a policy is its type.
#include <eddy/ad/linearize.hpp>
#include <eddy/trace/evaluate.hpp>

struct LongerThan {
    int limit = 3;
    constexpr eddy::Saving operator()(const eddy::Candidate& value) const {
        return value.size > limit ? eddy::Saving::save : eddy::Saving::recompute;
    }
};

struct Wave {
    constexpr auto operator()(const auto& x) const { return sin(sin(x)); }
};

struct Part {
    constexpr auto operator()(const auto& x) const {
#ifdef EDDY_BAD
        return eddy::remat(Wave{}, LongerThan{5})(x);
#else
        return eddy::remat<LongerThan{5}>(Wave{})(x);
#endif
    }
};

constexpr auto program = eddy::trace<eddy::Vector<4>>(Part{});
constexpr int num_nodes = decltype(program)::graph.size();
