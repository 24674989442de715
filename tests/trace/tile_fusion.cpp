// Chains of elementwise operations and stencils on tiles: every lane has the bits of the program on plain
// numbers, and what need not be stored is not.

#include <eddy/trace/field.hpp>
#include <eddy/trace/tile/tile_evaluate.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"

namespace {

using eddy::detail::TileProgram;
using eddy::detail::TileVector;

/// Fisher's equation on a ring of nine points.
struct Stencil {
    static constexpr int state_size = 9, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto left = eddy::concat(eddy::slice<8, 1>(y), eddy::slice<0, 8>(y));
        const auto right = eddy::concat(eddy::slice<1, 8>(y), eddy::slice<0, 1>(y));
        return p[0] * (left + right - 2.0 * y) + p[1] * (y * (1.0 - y));
    }
};
/// Masks, functions, a vector that lanes share, a number for each lane, a value read twice, copies, and
/// more operands than one pass reads.
struct Mixture {
    static constexpr int state_size = 9, parameter_size = 18;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        const auto a = eddy::slice<0, 9>(p), b = eddy::slice<9, 9>(p);
        const auto twice = y * a - b;
        const auto some = eddy::select(y < a, twice * twice, eddy::sqrt(y * y + 1.0));
        const auto turned = eddy::concat(eddy::slice<4, 5>(twice), eddy::slice<0, 4>(some));
        const auto many = (y + a) * (y - b) + (a * t - turned) * (b + t * y) + turned / (a + 4.0);
        return eddy::select(eddy::stop_gradient(some) < many, many * eddy::sum(some), -turned);
    }
};

/// Both programs on every lane: t and y of each, p of each or of all.
template <class Field, class Real>
void compare(bool shares_p) {
    using Program = eddy::FieldProgram<Field>;
    using Tile = TileProgram<Program, Real>;
    constexpr int n = Field::state_size, m = Field::parameter_size;
    constexpr int width = 2 * eddy::native_lanes<Real>;
    support::Random random(3);
    const auto rows = [&](int count) {
        std::vector<eddy::detail::TilePack<Real>> block(static_cast<std::size_t>(2 * count) + 2);
        Real* const first = reinterpret_cast<Real*>(block.data());
        for (int i = 0; i < count * width; ++i) first[i] = static_cast<Real>(random.uniform(-2, 2));
        return block;
    };
    auto t = rows(1), y = rows(n), p = rows(m), to = rows(n), scratch = rows(Tile::num_rows);
    const auto at = [](auto& block) { return reinterpret_cast<Real*>(block.data()); };
    const TileVector<Real> of_p =
        shares_p ? TileVector<Real>{at(p), 1, true} : TileVector<Real>{at(p), width, false};

    Tile::run({width, {{at(t), width, false}, {at(y), width, false}, of_p}, {at(to)}, at(scratch)});

    for (int lane = 0; lane < width; ++lane) {
        eddy::Vec<Real, n> of_y;
        eddy::Vec<Real, m> of_lane;
        for (int i = 0; i < n; ++i) of_y[i] = at(y)[i * width + lane];
        for (int i = 0; i < m; ++i) of_lane[i] = at(p)[shares_p ? i : i * width + lane];
        const auto expected = Program{}(at(t)[lane], of_y, of_lane);
        for (int i = 0; i < n; ++i)
            CHECK(support::same_bits(at(to)[i * width + lane], expected[i]));
    }
}

}  // namespace

TEST_CASE("tile fusion: a stencil has the bits of plain numbers, and stores nothing on its way") {
    compare<Stencil, double>(true);
    compare<Stencil, double>(false);
    compare<Stencil, float>(true);

    CHECK(TileProgram<eddy::FieldProgram<Stencil>, double>::num_rows == 0);
}

TEST_CASE("tile fusion: so have masks, shared vectors, copies and long chains") {
    compare<Mixture, double>(true);
    compare<Mixture, double>(false);
    compare<Mixture, float>(false);
}

TEST_CASE("tile fusion: a node is part of a pass where one other of its size alone reads it") {
    using eddy::detail::TileRole;
    using Program = eddy::FieldProgram<Stencil>;
    const auto roles = eddy::detail::tile_roles(Program::code);

    int stored = 0, pieces = 0;
    for (int i = 0; i < Program::code.size(); ++i) {
        const eddy::Op op = Program::code.nodes[i].op;
        const TileRole role = roles[static_cast<std::size_t>(i)];
        stored += eddy::is_elementwise(op) && role == TileRole::stored;
        pieces += role == TileRole::pieces;
    }
    CHECK(stored == 1);  // the result
    CHECK(pieces == 2);
}
