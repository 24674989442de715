// Problems whose right-hand side is a random expression: the seed decides which.

#include <eddy/solvers/dopri5.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "fuzz/problem_of.hpp"
#include "support/random_function.hpp"

namespace fuzz {

namespace {

template <support::Seed seed>
struct RandomField {
    static constexpr int state_size = 3, parameter_size = 12;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::slice<0, 3>(support::RandomFunction<seed, 2>{}(t, y, p));
    }
};
void make_random(Random& random, double* y0, double* p) {
    for (int i = 0; i < 3; ++i) y0[i] = random.uniform(-1, 1);
    for (int i = 0; i < 12; ++i) p[i] = random.uniform(-1, 1);
}

template <support::Seed seed, class Method, class Real, What what>
void add(ProblemList& list, const char* name) {
    list.push_back(
        std::make_unique<ProblemOf<RandomField<seed>, Method, Real, what>>(name, 3, make_random));
}

}  // namespace

void add_random_problems(ProblemList& list) {
    constexpr What own{.pushes = true, .pulls = true},
        shared{.shared = true, .pushes = true, .loses = true};
    add<11, eddy::Tsit5, double, own>(list, "random 11, Tsit5, double");
    add<12, eddy::Dopri5, float, shared>(list, "random 12, Dopri5, float, shared parameters");
}

}  // namespace fuzz
