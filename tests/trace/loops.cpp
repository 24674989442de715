// Loops inside traced functions: the values are those of the loop written out, each lane has the bits it
// has alone, and the interpreter agrees.

#include <cmath>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/embed.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/graphviz.hpp>
#include <eddy/trace/print.hpp>

#include "support/catch.hpp"
#include "support/interpret.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;
using Lanes = eddy::Pack<double, 8>;

/// E with E − e sin E = M; `most` turns of Newton's iteration.
template <int most>
struct Kepler {
    template <class T>
    constexpr auto operator()(const T& M, const T& e) const {
        using std::abs, std::sin, std::cos;
        return eddy::bounded_while<most>(
            M + 0.85 * e, [&](const auto& E) { return abs(E - e * sin(E) - M) > 1e-12; },
            [&](const auto& E) { return E - (E - e * sin(E) - M) / (1 - e * cos(E)); });
    }
};
/// Chain of 20 cells; each turn knows its left neighbour from the turn before.
struct ChainScan {
    template <class Y, class P>
    constexpr auto operator()(const Y& y, const P& p) const {
        const auto right = eddy::concat(eddy::slice<1, 19>(y), y[19]);
        return eddy::scan<20>(eddy::vec(y[0] * 1.0, y[0] * 1.0), right,
                              [&](const auto& s, const auto& next) {
                                  const auto f =
                                      p[0] * (s[0] - 2 * s[1] + next) + p[1] * s[1] * (1 - s[1]);
                                  return eddy::carry_and_out(eddy::vec(s[1], next), f);
                              })
            .outs;
    }
};
struct ChainWritten {
    template <class Y, class P>
    constexpr auto operator()(const Y& y, const P& p) const {
        Y f = y;
        for (int i = 0; i < 20; ++i) {
            const auto left = y[i > 0 ? i - 1 : 0], right = y[i < 19 ? i + 1 : 19];
            f[i] = p[0] * (left - 2 * y[i] + right) + p[1] * y[i] * (1 - y[i]);
        }
        return f;
    }
};
constexpr auto nest = [](const auto& x) {
    return eddy::repeat<3>(x, [&](const auto& a) {
        return eddy::repeat<4>(a, [&](const auto& b) { return b * 0.5 + x * a; });
    });
};
constexpr auto nest_written = [](const auto& x) {
    auto a = x * 1.0;
    for (int i = 0; i < 3; ++i) {
        auto b = a;
        for (int j = 0; j < 4; ++j) b = b * 0.5 + x * a;
        a = b;
    }
    return a;
};
/// The state of 20 numbers is longer than what lives in registers.
constexpr auto wide = [](const auto& y) {
    return eddy::repeat<3>(y, [&](const auto& z) {
        return eddy::concat(eddy::slice<10, 10>(z), eddy::slice<0, 10>(z) * 0.5) + y;
    });
};
constexpr auto parts = [](const auto& x) {
    const auto [first, rest] =
        eddy::repeat<5>(std::tuple(x, eddy::vec(x, x * x)), [](const auto& s) {
            const auto& [a, b] = s;
            return std::tuple(a + b[0], eddy::vec(b[1], a * 0.1));
        });
    return first + rest[0] + rest[1];
};

}  // namespace

TEST_CASE("a loop computes what it computes on plain numbers, and written out") {
    constexpr auto kepler = eddy::trace<Scalar, Scalar>(Kepler<30>{});
    const double E = kepler(1.3, 0.5);
    CHECK(std::abs(E - 0.5 * std::sin(E) - 1.3) < 1e-12);
    CHECK(std::abs(E - Kepler<30>{}(1.3, 0.5)) < 1e-14);

    constexpr auto nested = eddy::trace<Scalar>(nest);
    constexpr auto written = eddy::trace<Scalar>(nest_written);
    CHECK(nested(0.7) == written(0.7));
    CHECK(eddy::trace<Scalar>(parts)(0.3) == Approx(parts(0.3)).epsilon(1e-15));

    constexpr auto scan = eddy::trace<Vector<20>, Vector<2>>(ChainScan{});
    constexpr auto cells = eddy::trace<Vector<20>, Vector<2>>(ChainWritten{});
    Vec<double, 20> y{};
    for (int i = 0; i < 20; ++i) y[i] = std::sin(i + 1.0);
    const Vec<double, 2> p{0.3, 1.7};
    const auto found = scan(y, p), expected = cells(y, p);
    for (int i = 0; i < 20; ++i) CHECK(found[i] == expected[i]);
    CHECK(scan.code.size() < 30);  // whatever the number of cells

    const auto long_state = eddy::trace<Vector<20>>(wide)(y);
    Vec<double, 20> z = y;
    for (int turn = 0; turn < 3; ++turn) {
        const Vec<double, 20> old = z;
        for (int i = 0; i < 20; ++i)
            z[i] = eddy::mul_add(i < 10 ? old[i + 10] : old[i - 10], i < 10 ? 1.0 : 0.5, y[i]);
    }
    for (int i = 0; i < 20; ++i) CHECK(long_state[i] == Approx(z[i]).epsilon(1e-15));

    constexpr auto literal = eddy::trace<Scalar>(
        [](const auto& x) { return eddy::repeat<3>(1.0, [&](const auto& s) { return s * x; }); });
    CHECK(literal(0.5) == 0.125);
}

TEST_CASE("lanes leave a loop after turns of their own, with the bits they have alone") {
    constexpr auto kepler = eddy::trace<Scalar, Scalar>(Kepler<30>{});
    for (int i = 0; i < 64; ++i) {
        Lanes M(0.0), e(0.0);
        for (int lane = 0; lane < 8; ++lane) {
            M.set(lane, 0.1 * i + 0.7 * lane);
            e.set(lane, std::fmod(0.37 * i + 0.11 * lane, 0.9));
        }
        const Lanes together = kepler(M, e);
        for (int lane = 0; lane < 8; ++lane)
            CHECK(together[lane] == kepler(Lanes(M[lane]), Lanes(e[lane]))[0]);
    }
}

TEST_CASE(
    "a bounded_while that runs out of turns is NaN, or its last state where that is asked for") {
    constexpr auto count = [](const auto& x, auto options) {
        return eddy::bounded_while<4>(
            x, [](const auto& z) { return z < 10; }, [](const auto& z) { return z + 1; }, options);
    };
    constexpr auto fails = eddy::trace<Scalar>([](const auto& x) {
        return eddy::bounded_while<4>(
            x, [](const auto& z) { return z < 10; }, [](const auto& z) { return z + 1; });
    });
    constexpr auto stays = eddy::trace<Scalar>([](const auto& x) {
        return eddy::bounded_while<4>(
            x, [](const auto& z) { return z < 10; }, [](const auto& z) { return z + 1; },
            eddy::take_last);
    });

    CHECK(fails(6.0) == 10);
    CHECK(std::isnan(fails(5.5)));
    CHECK(stays(5.5) == 9.5);
    CHECK(std::isnan(count(5.5, eddy::WhileOptions{})));
    CHECK(count(5.5, eddy::take_last) == 9.5);
    Lanes x(6.0);
    x.set(3, 5.5);
    const Lanes result = fails(x);
    for (int lane = 0; lane < 8; ++lane) CHECK(std::isnan(result[lane]) == (lane == 3));
}

TEST_CASE("a scan reads what it walks along where it lies, and hands its outs over turn by turn") {
    constexpr auto chain = eddy::trace<Vector<20>, Vector<2>>(ChainScan{});
    using Chain = std::remove_const_t<decltype(chain)>;
    STATIC_REQUIRE(eddy::make_layout(Chain::code, true).scratch_size == 0);
    STATIC_REQUIRE(eddy::make_layout(Chain::code, false).scratch_size == 20);

    // Where the results lie over the arguments, these are read before.
    Vec<double, 20> y{}, over{};
    for (int i = 0; i < 20; ++i) over[i] = y[i] = std::sin(i + 1.0);
    const Vec<double, 2> p{0.3, 1.7};
    const auto apart = chain(y, p);
    eddy::evaluate<Chain, double>([&]<int output>(int i, const double& value) { over[i] = value; },
                                  over, p);
    for (int i = 0; i < 20; ++i) CHECK(over[i] == apart[i]);
}

TEST_CASE("at reads a component whose number is computed, and NaN outside") {
    constexpr auto product = [](const auto& v, const auto& x) { return eddy::at(v, x); };
    constexpr auto program = eddy::trace<Vector<5>, Scalar>(product);
    const Vec<double, 5> v{1, 2, 3, 4, 5};
    Lanes x(0.0);
    for (int lane = 0; lane < 8; ++lane) x.set(lane, lane - 1 + 0.5);

    const Lanes found = program(v, x);

    for (int lane = 0; lane < 8; ++lane) {
        const bool is_there = lane >= 1 && lane <= 5;
        CHECK((is_there ? found[lane] == lane : std::isnan(found[lane])));
        CHECK((is_there ? program(v, x[lane]) == lane : std::isnan(program(v, x[lane]))));
        CHECK((is_there ? product(v, x[lane]) == lane : std::isnan(product(v, x[lane]))));
    }
}

TEST_CASE("interpret walks loops, each trajectory for itself, with the same bits") {
    const auto check = [](const auto& program, std::vector<eddy::LaneArray<double>> arguments,
                          const auto& call) {
        const auto results =
            eddy::interpret<double>(std::remove_cvref_t<decltype(program)>::code.thaw(), arguments);
        for (int lane = 0; lane < 8; ++lane) CHECK(results[0](0, lane) == call(lane));
    };
    eddy::LaneArray<double> M(1, 8), e(1, 8);
    for (int lane = 0; lane < 8; ++lane) {
        M(0, lane) = 0.3 + 0.7 * lane;
        e(0, lane) = 0.11 * lane;
    }
    const auto kepler = eddy::trace<Scalar, Scalar>(Kepler<30>{});
    check(kepler, {M, e}, [&](int lane) { return kepler(M(0, lane), e(0, lane)); });
    const auto nested = eddy::trace<Scalar>(nest);
    check(nested, {M}, [&](int lane) { return nested(M(0, lane)); });

    const eddy::Graph at_run_time = eddy::trace_graph(nest, Scalar{});
    CHECK(eddy::interpret<double>(at_run_time, {M})[0](0, 3) == Approx(nested(M(0, 3))));
}

TEST_CASE("programs with loops are parts of other programs, in loops too") {
    constexpr auto inner = eddy::trace<Scalar>(nest);
    constexpr auto outer = eddy::trace<Scalar>([](const auto& x) {
        return decltype(inner){}(x) +
               eddy::repeat<2>(x, [](const auto& z) { return decltype(inner){}(z)*0.5; });
    });
    const double once = inner(0.7), twice = inner(once * 0.5) * 0.5;
    CHECK(outer(0.7) == once + twice);
}

TEST_CASE("printed programs show loops as boxes") {
    const eddy::Graph graph = eddy::trace_graph(nest, Scalar{});
    const std::string text = eddy::to_text(graph);

    CHECK(text.find("\n| %") != std::string::npos);
    CHECK(text.find("\n| | %") != std::string::npos);
    CHECK(text.find("loop 1 (4 turns)") != std::string::npos);
    CHECK(eddy::to_graphviz(graph).find("subgraph cluster_0_loop_1") != std::string::npos);
}

TEST_CASE("a value that leaves its loop is refused at run time too") {
    CHECK(support::message_of([] {
              (void)eddy::trace_graph(
                  [](const auto& x) {
                      auto leaked = x * 1.5;
                      const auto last = eddy::repeat<3>(x, [&](const auto& z) {
                          leaked = leaked + z;
                          return z * z;
                      });
                      return last + leaked;
                  },
                  Scalar{});
          }).find("in the body of a loop is used behind the loop") != std::string::npos);
}
