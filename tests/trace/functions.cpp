#include <cmath>
#include <eddy/trace/evaluate.hpp>

#include "support/catch.hpp"

using eddy::Vec;

namespace {

bool is_same(double program, double plain) {
    // Where products are fused, a plain call still rounds them.
    return eddy::fma_is_fast ? std::abs(program - plain) < 1e-14 : program == plain;
}
bool is_same(const Vec<double, 3>& program, const Vec<double, 3>& plain) {
    return is_same(program[0], plain[0]) && is_same(program[1], plain[1]) &&
           is_same(program[2], plain[2]);
}

template <class Function>
bool computes_the_same(Function function) {
    const Vec<double, 3> y{{0.5, -2, 0.25}};
    return is_same(eddy::trace<eddy::Vector<3>>(function)(y), function(y));
}

}  // namespace

TEST_CASE("functions: using-declarations of std find the functions of traced values") {
    CHECK(computes_the_same([](const auto& y) {
        using std::abs, std::atan2, std::max, std::min, std::pow, std::sin;
        return max(y[0], y[1]) + min(y[1], y[2]) + sin(y[0]) + pow(y[2], 2) +
               atan2(y[0], abs(y[1]));
    }));
}

TEST_CASE("functions: qualified calls take traced values, numbers and both") {
    CHECK(computes_the_same([](const auto& y) {
        return eddy::max(0, y[1]) + eddy::pow(2, y[0]) + eddy::fma(2, y[0], 1) +
               eddy::select(y[0] < y[1], 1, 2) / 4 + eddy::clamp(y[2], 0, 1) + eddy::fabs(y[1]);
    }));
}

TEST_CASE("functions: vector operations take Vecs of components") {
    CHECK(computes_the_same([](const auto& y) {
        using Number = std::remove_cvref_t<decltype(y[0])>;
        Vec<Number, 3> x{{y[2], y[0], y[1]}};
        x += y[0];
        x *= 0.1;
        const auto W = eddy::concat(x, x * y[1]);
        return eddy::norm(x) + eddy::sum(x) + eddy::dot(x, x) + eddy::dot(x, y) +
               eddy::dense(W, eddy::vec(y[0], 2), x)[1] + eddy::sqrt(eddy::abs(x))[2];
    }));
}

TEST_CASE("functions: vectors are compared with scalars, component by component") {
    CHECK(computes_the_same([](const auto& y) {
        return eddy::select((y > 0 && !(y == 0.25)) || y < -3, y * y, eddy::relu(y) - 1);
    }));
}
