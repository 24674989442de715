// A function may treat a traced vector as it treats a vector of numbers: assign to components, hold
// references to them, swap and copy them. Each function here is called both ways.

#include <eddy/trace/evaluate.hpp>
#include <utility>

#include "support/catch.hpp"
#include "support/interpret.hpp"

using eddy::Vec;
using eddy::Vector;

namespace {

using Values = Vec<double, 3>;

// Without products that are added, so that no rounding differs.
struct Assign {
    constexpr auto operator()(const auto& y) const {
        auto f = -y;
        f[0] = 3.0 * y[1];
        f[1] += 5.0;
        f[1] -= y[2];
        return f;
    }
};
struct Refer {
    constexpr auto operator()(const auto& y) const {
        auto f = -y;
        auto before = f[0];
        auto& first = f[0];
        const auto& second = f[1];
        const auto& whole = f;
        const auto& third = whole[2];
        first = f[2] = 2;
        f[1] *= 7;
        const auto half = f / 2;
        f = f - third + second;
        before /= 4;
        return eddy::vec(before, first, half[1]) + f;
    }
};
struct Copy {
    constexpr auto operator()(const auto& y) const {
        auto f = y, g = f;
        g[1] = 1;
        auto h = std::move(g);
        h[0] = f[1];
        g += f;
        f *= f[0];
        return eddy::vec(f[1], g[1], h[0] - h[1] + y[1]);
    }
};
struct Swap {
    constexpr auto operator()(auto y) const {
        using std::swap;
        swap(y[0], y[2]);
        auto f = y * 2;
        swap(f, y);
        for (auto& component : f) component = 1 / component;
        for (int i = 0; i < y.size(); ++i) y[i] -= f[i];
        std::tie(y[0], y[1]) = std::make_tuple(y[1], y[0]);
        return y;
    }
};
struct Fill {
    constexpr auto operator()(const auto& y) const {
        std::remove_cvref_t<decltype(y)> f{}, g{};
        decltype(y[0] + y[0]) sum = 0, largest = 1;
        for (const auto& component : y) sum += component;
        largest = 0;
        for (int i = 0; i < 3; ++i) largest = eddy::max(largest, y[i]);
        for (int i = 0; i < 3; ++i) f[i] = i == 1 ? sum : y[i] * (7 / 2);
        g = eddy::Vec<double, 3>{{1, 2, 3}};
        g[1] = largest;
        return f - g;
    }
};
struct Choose {
    constexpr auto operator()(const auto& y) const {
        auto f = y;
        auto& chosen = y.size() > 2 ? f[2] : f[1];
        chosen = eddy::select(y[0] < 1, f[0], -f[0]);
        const auto assign = [](auto& out, const auto& in) {
            const auto& first = in[0];
            out[0] = in[1];
            out[1] = first;
        };
        assign(f, f);
        f /= f[2];
        return f;
    }
};

struct Same {
    constexpr const auto& operator()(const auto& y) const { return y; }
};

template <class Function>
void check_same(Function function) {
    constexpr auto program = eddy::trace<Vector<3>>(Function{});
    for (const Values& y : {Values{{0.5, -2, 0.25}}, Values{{3, 5, -1.5}}}) {
        const Values plain = function(y);

        CHECK(program(y) == plain);
        CHECK(eddy::trace<Vector<3>>([](const auto& x) { return Function{}(x) + x; })(y) ==
              plain + y);
    }
}

}  // namespace

TEST_CASE("components: assigning to them changes the vector") { check_same(Assign{}); }
TEST_CASE("components: references see every later value, copies none") {
    check_same(Refer{});
    check_same(Copy{});
}
TEST_CASE("components: they swap, and a range-for reaches them") { check_same(Swap{}); }
TEST_CASE("components: default-constructed vectors and sums are filled") { check_same(Fill{}); }
TEST_CASE("components: aliases within a call mean what they mean for numbers") {
    check_same(Choose{});
}

TEST_CASE("components: a result may be a reference to an argument") { check_same(Same{}); }

TEST_CASE("components: a run-time trace of run-time size has them, too") {
    const eddy::LaneArray<double> y(3, 1, 2.0);

    const auto assigned =
        eddy::interpret<double>(eddy::trace_graph(Assign{}, eddy::DynamicVector{3}), {y});
    const auto swapped =
        eddy::interpret<double>(eddy::trace_graph(Swap{}, eddy::DynamicVector{3}), {y});

    const Values by_hand = Assign{}(Values{{2, 2, 2}}), in_turn = Swap{}(Values{{2, 2, 2}});
    for (int i = 0; i < 3; ++i) {
        CHECK(assigned[0](i, 0) == by_hand[i]);
        CHECK(swapped[0](i, 0) == in_turn[i]);
    }
}

TEST_CASE("components: those that stay are one slice, and a full vector is none") {
    constexpr auto first = eddy::trace<Vector<8>>([](const auto& y) {
        auto f = eddy::sin(y);
        f[0] = 1;
        return f;
    });
    constexpr auto all = eddy::trace<Vector<2>>([](const auto& y) {
        auto f = y;
        f[0] = y[1] * 2;
        f[1] = y[0] * 3;
        return f;
    });
    constexpr auto listed =
        eddy::trace<Vector<2>>([](const auto& y) { return eddy::vec(y[1] * 2, y[0] * 3); });

    CHECK(first.graph.size() == 4);
    CHECK(all.graph.size() == listed.graph.size());
}

// Compiled with a tenth of the depth of templates that compilers allow by themselves (CMakeLists.txt).
TEST_CASE("components: as many as a wide state has are not as many levels of templates") {
    constexpr int width = 120;
    constexpr auto reversed = eddy::trace<Vector<width>>([](const auto& y) {
        auto f = y;
        for (int i = 0; i < width; ++i) f[i] = y[width - 1 - i];
        return f;
    });
    Vec<double, width> y{};
    y[3] = 7;

    CHECK(reversed(y)[width - 4] == 7);
}
