// Equations that are known when the program runs have the bits of those that are compiled.

#include <algorithm>
#include <cmath>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/nn/mlp.hpp>

#include "support/catch.hpp"
#include "support/chain_of_species.hpp"
#include "support/counting_new.hpp"
#include "support/equations.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/row_runs.hpp"
#include "support/stiff_equations.hpp"

namespace {

using support::num_row_lanes;
using support::Rows;

Rows random_rows(int size, std::uint64_t seed) {
    support::Random random(seed);
    Rows rows;
    for (int k = 0; k < size * num_row_lanes; ++k) rows.push_back(random.uniform(0.2, 2));
    return rows;
}
/// t, y, p and the cotangent.
std::vector<Rows> arguments_of(const eddy::RuntimeField& field) {
    return {random_rows(1, 1), random_rows(field.num_states(), 2),
            random_rows(field.num_parameters(), 3), random_rows(field.num_states(), 4)};
}

struct Answer {
    Rows dy, dy_forward, ybar, pbar;
};
/// What a field gives on tiles of a width; pbar is added to ones.
Answer run(const eddy::RuntimeField& field, const std::vector<Rows>& of_lanes, int width) {
    const auto tile = field.maker()->on_tile(width);
    const int n = field.num_states(), m = field.num_parameters();
    const int sizes[] = {1, n, m, n};
    std::vector<Rows> in;
    for (int k = 0; k < 4; ++k)
        in.push_back(support::to_tiles(of_lanes[static_cast<std::size_t>(k)], sizes[k], width));
    const auto rows = [](int size, double value) {
        return Rows(static_cast<std::size_t>(size * num_row_lanes), value);
    };
    Answer out{rows(n, 0), rows(n, 0), rows(n, 0), rows(m, 1)};
    Rows kept(static_cast<std::size_t>(tile->num_residuals() * width));
    for (int k = 0; k < num_row_lanes / width; ++k) {
        const double *const t = in[0].data() + k * width, *const y = in[1].data() + k * n * width,
                            *const p = in[2].data() + k * m * width,
                            *const c = in[3].data() + k * n * width;
        tile->f(t, y, p, out.dy.data() + k * n * width);
        tile->forward(t, y, p, out.dy_forward.data() + k * n * width, kept.data());
        tile->pull(t, y, p, kept.data(), c, out.ybar.data() + k * n * width,
                   out.pbar.data() + k * m * width);
    }
    out.dy = support::from_tiles(out.dy, n, width);
    out.dy_forward = support::from_tiles(out.dy_forward, n, width);
    out.ybar = support::from_tiles(out.ybar, n, width);
    out.pbar = support::from_tiles(out.pbar, m, width);
    return out;
}

/// The same by the interpreter: f, and both halves of its derivative.
Answer interpreted(const eddy::Graph& graph, const std::vector<Rows>& of_lanes) {
    const std::vector<Rows> x(of_lanes.begin(), of_lanes.begin() + 3);
    const eddy::SplitGraph split = eddy::split_graph(graph, {0, 1, 1});
    const std::vector<Rows> forward = support::run_interpreted(split.forward, x);
    std::vector<Rows> back = x;
    back.push_back(split.residual_size > 0 ? forward[1] : Rows{});
    back.push_back(of_lanes[3]);
    const std::vector<Rows> pulled = support::run_interpreted(split.backward, back);
    Answer answer{support::run_interpreted(eddy::detail::finish_code(graph), x)[0], forward[0],
                  pulled[0], pulled[1]};
    for (double& sum : answer.pbar) sum += 1;
    return answer;
}

void check_bits(const eddy::RuntimeField& field) {
    const std::vector<Rows> arguments = arguments_of(field);
    const Answer expected = interpreted(field.graph(), arguments);
    for (const int width : support::row_widths) {
        const Answer answer = run(field, arguments, width);
        INFO(field.num_states() << " states, tiles of " << width);
        CHECK(support::count_differences(answer.dy, expected.dy) == 0);
        CHECK(support::count_differences(answer.dy_forward, expected.dy) == 0);
        CHECK(support::count_differences(answer.ybar, expected.ybar) == 0);
        CHECK(support::count_differences(answer.pbar, expected.pbar) == 0);
    }
}

double largest_difference(const Rows& a, const Rows& b) {
    double largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
        largest = std::max(largest, std::abs(a[k] - b[k]) / (1 + std::abs(b[k])));
    return largest;
}

struct Functions {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(eddy::exp(-y[0]) * eddy::sin(p[0] * t),
                         eddy::select(y[0] < y[1], eddy::pow(y[1], p[0]), eddy::sqrt(y[0])));
    }
};

/// The bits of f against the program that a compiler made.
template <class Field>
void check_compiled() {
    using P = eddy::Pack<double, 8>;
    const eddy::RuntimeField field =
        eddy::trace_field(Field::state_size, Field::parameter_size, Field{});
    const std::vector<Rows> x = arguments_of(field);
    const Answer answer = run(field, x, 64);
    int differences = 0;
    for (int lane = 0; lane < num_row_lanes; lane += 8) {
        const auto row = [&](std::size_t block, int c) {
            return P::load(x[block].data() + c * num_row_lanes + lane);
        };
        eddy::Vec<P, Field::state_size> y{};
        eddy::Vec<P, Field::parameter_size> p{};
        for (int c = 0; c < Field::state_size; ++c) y[c] = row(1, c);
        for (int c = 0; c < Field::parameter_size; ++c) p[c] = row(2, c);
        const auto dy = eddy::trace_field(Field{})(row(0, 0), y, p);
        for (int c = 0; c < Field::state_size; ++c) {
            for (int k = 0; k < 8; ++k)
                differences += !support::same_bits(
                    dy[c][k], answer.dy[static_cast<std::size_t>(c * num_row_lanes + lane + k)]);
        }
    }
    CHECK(differences == 0);
}

}  // namespace

TEST_CASE("runtime_field: f has the bits of the compiled program") {
    check_compiled<support::Lorenz>();
    check_compiled<support::Hires>();
    check_compiled<support::Pollution>();
}

TEST_CASE("runtime_field: f and its derivatives have the interpreter's bits at every width") {
    check_bits(eddy::trace_field(3, 3, support::Lorenz{}));
    check_bits(eddy::trace_field(8, 3, support::Hires{}));
    check_bits(eddy::trace_field(20, 25, support::Pollution{}));
    check_bits(eddy::trace_field(100, 200, support::ChainOfSpecies{100}));
}

TEST_CASE("runtime_field: functions are those of packs, and their derivatives right") {
    check_compiled<eddy::nn::Mlp<2, 8, 2>>();
    check_compiled<Functions>();
    const eddy::RuntimeField fields[] = {
        eddy::trace_field(2, eddy::nn::Mlp<2, 8, 2>::parameter_size, eddy::nn::Mlp<2, 8, 2>{}),
        eddy::trace_field(2, 1, Functions{})};
    CHECK(fields[0].maker()->longest_of_products() == 8);
    CHECK(fields[1].maker()->longest_of_products() == 0);
    for (const eddy::RuntimeField& field : fields) {
        const std::vector<Rows> arguments = arguments_of(field);
        const Answer expected = interpreted(field.graph(), arguments),
                     first = run(field, arguments, 1);
        for (const int width : support::row_widths) {
            const Answer answer = run(field, arguments, width);
            CHECK(support::count_differences(answer.ybar, first.ybar) == 0);
            CHECK(support::count_differences(answer.pbar, first.pbar) == 0);
            CHECK(largest_difference(answer.ybar, expected.ybar) < 1e-13);
            CHECK(largest_difference(answer.pbar, expected.pbar) < 1e-13);
        }
    }
}

TEST_CASE("runtime_field: what a lambda captures is constant, and a std::vector is a result") {
    const std::vector<double> rates{2, 3, 5};
    const eddy::RuntimeField field =
        eddy::trace_field(3, 0, [&](const auto&, const auto& y, const auto&) {
            std::vector<eddy::Traced<eddy::scalar_shape>> flow;
            for (int k = 0; k < 3; ++k) flow.push_back(-rates[static_cast<std::size_t>(k)] * y[k]);
            return flow;
        });
    const auto tile = field.maker()->on_tile(1);
    const double t = 0, y[] = {1, 10, 100};
    double dy[3] = {};

    tile->f(&t, y, nullptr, dy);

    CHECK_FALSE(field.reads_time());
    CHECK(dy[0] == -2);
    CHECK(dy[1] == -30);
    CHECK(dy[2] == -500);
}

TEST_CASE("runtime_field: sums and products are computed again, what is dear is kept") {
    const auto residuals = [](const eddy::RuntimeField& field) {
        return field.maker()->on_tile(8)->num_residuals();
    };
    CHECK(residuals(eddy::trace_field(3, 3, support::Lorenz{})) == 0);
    CHECK(residuals(eddy::trace_field(20, 25, support::Pollution{})) == 0);
    CHECK(residuals(eddy::trace_field(1, 1, [](const auto&, const auto& y, const auto& p) {
              return eddy::vec(eddy::exp(p[0] * y[0]) * y[0]);
          })) == 1);
}

TEST_CASE("runtime_field: the second call allocates nothing") {
    const eddy::RuntimeField field = eddy::trace_field(20, 25, support::Pollution{});
    const auto tile = field.maker()->on_tile(8);
    Rows in(25 * 8, 0.5), dy(20 * 8), ybar(20 * 8), pbar(25 * 8);
    const auto call = [&] {
        tile->forward(in.data(), in.data(), in.data(), dy.data(), nullptr);
        tile->pull(in.data(), in.data(), in.data(), nullptr, dy.data(), ybar.data(), pbar.data());
    };
    call();

    const auto before = support::allocations.load();
    call();

    CHECK(support::allocations.load() == before);
}

TEST_CASE("runtime_field: the equation of y and a tangent is made once") {
    const auto field = eddy::trace_field(
        2, 1, [](auto, const auto& y, const auto& p) { return eddy::vec(p[0] * y[1], y[0]); });
    const auto maker = field.maker();
    const auto along = maker->with_tangents({eddy::Direction::given});
    REQUIRE(along);
    CHECK(along->num_states() == 4);
    CHECK(maker->with_tangents({eddy::Direction::given}) == along);
    CHECK(maker->with_tangents({eddy::Direction::of_start}) != along);
}

TEST_CASE("runtime_field: sizes that do not fit are told in a sentence") {
    const auto two = [](const auto&, const auto& y, const auto&) { return eddy::vec(y[0], y[0]); };
    CHECK(support::message_of([&] { (void)eddy::trace_field(3, 0, two); }) ==
          "trace_field: the function returns 2 numbers for 3 states; return one for each");
    CHECK(support::message_of([&] { (void)eddy::trace_field(0, 0, two); }) != "");
}
