#include <cmath>
#include <eddy/core/vec_math.hpp>

#include "support/catch.hpp"

namespace {

template <class T, int length, class F>
bool is_componentwise(const eddy::Vec<T, length>& result, const eddy::Vec<T, length>& x, F f) {
    for (int i = 0; i < length; ++i) {
        if (result[i] != f(x[i])) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("vec_math: functions of one vector act on each component") {
    volatile double quarter = 0.25;  // compilers fold functions of constants with other roundings
    const eddy::Vec<double, 3> x{{quarter, 2 * quarter, 3 * quarter}};

    CHECK(is_componentwise(eddy::sqrt(x), x, [](double c) { return std::sqrt(c); }));
    CHECK(is_componentwise(eddy::exp(x), x, [](double c) { return std::exp(c); }));
    CHECK(is_componentwise(eddy::asin(x), x, [](double c) { return std::asin(c); }));
    CHECK(is_componentwise(eddy::erf(x), x, [](double c) { return std::erf(c); }));
    CHECK(is_componentwise(eddy::floor(x), x, [](double c) { return std::floor(c); }));
    CHECK(is_componentwise(eddy::erfc(x), x, [](double c) { return std::erfc(c); }));
    CHECK(is_componentwise(eddy::erfcx(x), x, [](double c) { return eddy::erfcx(c); }));
    CHECK(is_componentwise(eddy::log_erfc(x), x, [](double c) { return eddy::log_erfc(c); }));
    CHECK(is_componentwise(eddy::lgamma(x), x, [](double c) { return eddy::lgamma(c); }));
    CHECK(is_componentwise(eddy::digamma(x), x, [](double c) { return eddy::digamma(c); }));
    CHECK(is_componentwise(eddy::trigamma(x), x, [](double c) { return eddy::polygamma(1, c); }));
    CHECK(is_componentwise(eddy::softplus(x), x, [](double c) { return eddy::softplus(c); }));
    CHECK(is_componentwise(eddy::gelu(x), x, [](double c) { return eddy::gelu(c); }));
}

TEST_CASE("vec_math: functions of several arguments broadcast scalars") {
    const eddy::Vec<double, 3> x{{1, 2, 3}}, y{{3, 2, 1}};

    CHECK(eddy::max(x, y) == eddy::Vec<double, 3>{{3, 2, 3}});
    CHECK(eddy::min(x, 1.5) == eddy::Vec<double, 3>{{1, 1.5, 1.5}});
    CHECK(eddy::clamp(x, 1.5, 2.5) == eddy::Vec<double, 3>{{1.5, 2, 2.5}});
    CHECK(eddy::fma(x, 2.0, y) == eddy::Vec<double, 3>{{5, 6, 7}});
    CHECK(eddy::pow(x, 3) == eddy::Vec<double, 3>{{1, 8, 27}});
    CHECK(eddy::select(x < y, x, 0.0) == eddy::Vec<double, 3>{{1, 0, 0}});
    CHECK(eddy::select(x >= y, x, 0.0) == eddy::Vec<double, 3>{{0, 2, 3}});
    CHECK(eddy::select(x <= 2.0, 1.0, y) == eddy::Vec<double, 3>{{1, 1, 1}});
}

TEST_CASE("vec_math: dot, norm and dense are those of linear algebra, in float too") {
    const eddy::Vec<float, 3> x{{2, 3, 6}};
    const eddy::Vec<float, 6> weights{{1, 2, 3, 4, 5, 6}};  // (row, column)
    const eddy::Vec<float, 2> bias{{10, 20}};

    CHECK(eddy::dot(x, x) == 49);
    CHECK(eddy::norm(x) == 7);
    CHECK(eddy::dense(weights, bias, x) == eddy::Vec<float, 2>{{36, 79}});
}

TEST_CASE("vec_math: numbers of any type stand beside floating-point ones") {
    CHECK(eddy::max(0, -1.5) == 0);
    CHECK(eddy::min(2, 1.5f) == 1.5f);
    CHECK(eddy::pow(2, 0.5) == std::sqrt(2.0));
    CHECK(eddy::atan2(1, 1.0) == std::atan2(1.0, 1.0));
    CHECK(eddy::fma(2, 3, 0.5) == 6.5);
    CHECK(eddy::select(true, 0, 2.5) == 0);
    CHECK(eddy::select(true, 1, 2) / 4 == 0.25);
    CHECK(eddy::pow(2, eddy::Vec<double, 2>{{1, 3}}) == eddy::Vec<double, 2>{{2, 8}});
}

TEST_CASE("vec_math: operators assign, compare and join") {
    eddy::Vec<double, 2> x{{1, -2}};
    x += 1.0;
    x *= eddy::Vec<double, 2>{{2, 3}};

    CHECK(x == eddy::Vec<double, 2>{{4, -3}});
    CHECK(eddy::select(!(x > 0 && x < 3), x, 9) == x);
    CHECK(eddy::select(x == 4 || x != -3, 1.0, x) == eddy::Vec<double, 2>{{1, -3}});
    CHECK(eddy::concat(x, 7) == eddy::Vec<double, 3>{{4, -3, 7}});
    CHECK(eddy::concat(eddy::concat(1, 2.5), x) == eddy::Vec<double, 4>{{1, 2.5, 4, -3}});
    CHECK(eddy::sum(-x) == -1);
}

TEST_CASE("vec_math: using-declarations of std find the functions of Vecs") {
    using std::exp, std::max, std::pow;
    const eddy::Vec<double, 2> x{{0, 1}}, y{{1, 0}};

    CHECK(max(x, y) == eddy::Vec<double, 2>{{1, 1}});
    CHECK(exp(x)[1] == std::exp(1.0));
    CHECK(pow(x, 2) == x);
}

TEST_CASE("vec_math: plain numbers take the precision of the components, as in a program") {
    const eddy::Vec<float, 2> x{{0.5f, 1}};

    STATIC_REQUIRE(std::is_same_v<decltype(x * 0.1), eddy::Vec<float, 2>>);
    STATIC_REQUIRE(std::is_same_v<decltype(eddy::concat(x, 2)), eddy::Vec<float, 3>>);
    CHECK(eddy::max(x, 0.7)[0] == 0.7f);
    CHECK((x / 3)[0] == 0.5f / 3);
}
