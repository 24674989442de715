// Sums of outer products over the lanes of a tile: whichever lanes take part, whatever the shape of the matrix,
// and however many evaluations are added as one.

#include <vector>
#include "../../src/trace/rows/outer.hpp"
#include "../../src/trace/rows/row_engine.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::detail::TileVector;

/// Some evaluations of u and v, rows of lanes, or numbers that all lanes share.
template <class Real>
struct Evaluations {
    int rows, columns, width;
    bool shares_u, shares_v;
    std::vector<std::vector<Real>> u, v;  // (evaluation)(component, lane)

    /// Sums of integers are exact, in any order; others tell it.
    Evaluations(int count, int rows, int columns, int width, bool shares_u, bool shares_v,
                bool are_integers)
        : rows(rows), columns(columns), width(width), shares_u(shares_u), shares_v(shares_v) {
        support::Random random(3);
        const auto draw = [&](int size) {
            std::vector<Real> numbers(static_cast<std::size_t>(size * width));
            for (Real& x : numbers)
                x = static_cast<Real>(are_integers ? random.below(17) - 8 : random.uniform(-1, 1));
            return numbers;
        };
        for (int k = 0; k < count; ++k) {
            u.push_back(draw(rows));
            v.push_back(draw(columns));
        }
    }
    [[nodiscard]] TileVector<Real> operand(const std::vector<Real>& numbers, bool is_shared) const {
        return {numbers.data(), is_shared ? 1 : width, is_shared};
    }
    [[nodiscard]] Real at(const std::vector<Real>& numbers, bool is_shared, int c, int lane) const {
        return numbers[static_cast<std::size_t>(is_shared ? c : c * width + lane)];
    }

    [[nodiscard]] std::vector<Real> sum(int depth, const std::vector<int>& lanes) const {
        const int count = static_cast<int>(lanes.size());
        const eddy::detail::TileLanes taking_part{lanes.data(), count, count == width};
        std::vector<Real> room(static_cast<std::size_t>(
            eddy::detail::rows_of_outer<Real>(rows, columns) * width * depth));
        std::vector<Real> total(static_cast<std::size_t>(rows * columns), Real(1));
        eddy::detail::OuterSums<Real> sums(room.data(), depth);
        for (std::size_t k = 0; k < u.size(); ++k) {
            sums.begin(static_cast<int>(k), static_cast<int>(u.size()), taking_part);
            sums.add({total.data(), columns, 1, rows, columns}, operand(u[k], shares_u),
                     operand(v[k], shares_v));
        }
        return total;
    }
    [[nodiscard]] std::vector<Real> expected(const std::vector<int>& lanes) const {
        std::vector<Real> total;
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < columns; ++c) {
                Real sum = 1;
                for (std::size_t k = 0; k < u.size(); ++k)
                    for (const int lane : lanes)
                        sum += at(u[k], shares_u, r, lane) * at(v[k], shares_v, c, lane);
                total.push_back(sum);
            }
        }
        return total;
    }
};

/// Numbers of the packs that sums over lanes are carried in.
template <class Real>
constexpr int most_of_pack = 64 / sizeof(Real);

std::vector<int> all_lanes(int width) {
    std::vector<int> lanes;
    for (int lane = 0; lane < width; ++lane) lanes.push_back(lane);
    return lanes;
}

template <class Real>
void check_sums() {
    const int width = 2 * most_of_pack<Real>;
    const std::vector<int> shapes[] = {{1, 1}, {5, 3}, {40, 2}, {2, 40}, {19, 33}};
    for (const auto& shape : shapes) {
        for (const auto& lanes :
             {all_lanes(width), std::vector<int>{0, 2, 3}, std::vector<int>{}}) {
            for (const int shared : {0, 1, 2, 3}) {
                CAPTURE(shape, lanes, shared);
                const Evaluations<Real> exact(7, shape[0], shape[1], width, (shared & 1) != 0,
                                              (shared & 2) != 0, true);
                const Evaluations<Real> rounded(7, shape[0], shape[1], width, (shared & 1) != 0,
                                                (shared & 2) != 0, false);
                const auto one_by_one = rounded.sum(1, lanes);
                for (const int depth : {1, 3, 7, 9}) {
                    CHECK(exact.sum(depth, lanes) == exact.expected(lanes));
                    CHECK(rounded.sum(depth, lanes) == one_by_one);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE(
    "outer: a sum is that of the lanes that take part, the same bits in groups of any depth") {
    check_sums<double>();
    check_sums<float>();
}

TEST_CASE("outer: rows that are added together have the bits of each by itself") {
    constexpr int width = 2 * most_of_pack<float>, size = 2 * eddy::native_lanes<float> + 3;
    const Evaluations<float> of(1, size, 1, width, false, false, false);
    const auto lanes = all_lanes(width);
    using Pack = eddy::Pack<float, most_of_pack<float>>;
    std::vector<float> total(size, 0.1f);

    eddy::detail::add_over_lanes(total.data(), size, of.operand(of.u[0], false),
                                 {lanes.data(), width, true});

    for (int c = 0; c < size; ++c) {
        const float* const row = of.u[0].data() + c * width;
        CHECK(total[static_cast<std::size_t>(c)] ==
              0.1f + sum(eddy::detail::add_packs<Pack>(row, width)));
    }
}

TEST_CASE("outer: thin sums have the bits of packs of 64 bytes, whatever the vectors") {
    constexpr int rows = 19, columns = 3, width = 2 * most_of_pack<double>;
    using Pack = eddy::Pack<double, most_of_pack<double>>;
    const Evaluations<double> of(1, rows, columns, width, false, false, false);

    const std::vector<double> total = of.sum(1, all_lanes(width));

    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
            CAPTURE(r, c);
            Pack products(0);
            for (int lane = 0; lane < width; lane += Pack::size)
                products = mul_add(Pack::load(of.u[0].data() + r * width + lane),
                                   Pack::load(of.v[0].data() + c * width + lane), products);
            CHECK(total[static_cast<std::size_t>(r * columns + c)] == 1 + sum(products));
        }
    }
}

TEST_CASE("outer: evaluations are divided into groups as even as may be") {
    CHECK(eddy::detail::outer_depth(6, 64) == 1);
    CHECK(eddy::detail::outer_depth(6, 32) == 6);
    CHECK(eddy::detail::outer_depth(13, 32) == 7);
    CHECK(eddy::detail::outer_depth(25, 32) == 9);
    CHECK(eddy::detail::outer_depth(1, 16) == 1);
    CHECK(eddy::detail::outer_depth(13, 8) == 13);
}
