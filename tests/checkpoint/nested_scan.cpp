#include <eddy/checkpoint/nested_scan.hpp>

#include <eddy/ad/hooks.hpp>
#include <eddy/ad/residuals.hpp>
#include <eddy/checkpoint/offload.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using Pair = std::pair<double, double>;

/// (carry, x), p -> (sin(carry) + p x, carry x), which counts how often it is evaluated.
struct Cell {
    std::shared_ptr<int> evaluations = std::make_shared<int>(0);

    struct Linearization {
        Pair value, at;
        double p;
        [[nodiscard]] std::tuple<Pair, double> pullback(const Pair& c) const {
            const auto [carry, x] = at;
            return {{std::cos(carry) * c.first + x * c.second, p * c.first + carry * c.second},
                    x * c.first};
        }
    };
    Pair operator()(const Pair& at, double p) const {
        ++*evaluations;
        return {std::sin(at.first) + p * at.second, at.first * at.second};
    }
    [[nodiscard]] Linearization linearize(const Pair& at, double p) const {
        return {(*this)(at, p), at, p};
    }
};

const double p = 0.7;
const auto input = [] {
    std::pair<double, std::vector<double>> all{0.3, {}};
    for (int k = 0; k < 24; ++k) all.second.push_back(0.1 * k - 1);
    return all;
}();

template <class Net>
auto gradient(const Net& net) {
    auto linearization = net.linearize(input, p);
    return std::pair(linearization.value, linearization.pullback({1.5, input.second}));
}

}  // namespace

TEST_CASE("row 4: the levels of a nested scan are what two functions make of them") {
    const Cell cell;
    const auto expected = gradient(eddy::scan(cell));
    const auto& of_input = std::get<0>(expected.second);
    const double of_p = std::get<1>(expected.second);
    const auto evaluations = [&](const auto& net) {
        *cell.evaluations = 0;
        const auto [value, cotangents] = gradient(net);
        CHECK(value == expected.first);
        CHECK(std::get<0>(cotangents) == of_input);
        CHECK(std::get<1>(cotangents) == Approx(of_p).epsilon(1e-14));  // added up level by level
        return *cell.evaluations;
    };
    const auto keep_states = [](auto f) { return eddy::scan(std::move(f), {.checkpoints = 2}); };
    const auto store_all = [](auto f) { return eddy::scan(std::move(f)); };
    const auto as_it_is = [](auto f) { return f; };
    const auto dropped = [](auto f) { return eddy::remat(std::move(f)); };
    const auto offloaded = [](auto f) {
        return eddy::remat(std::move(f), eddy::offload_to(eddy::InHostMemory{}));
    };

    CHECK(evaluations(eddy::nested_scan(cell, {24})) == 24);
    CHECK(evaluations(eddy::nested_scan(cell, {4, 3, 2}, store_all, as_it_is)) == 24);
    CHECK(evaluations(eddy::nested_scan(cell, {6, 4})) == 2 * 24);
    CHECK(evaluations(eddy::nested_scan(cell, {6, 4}, store_all, offloaded)) == 2 * 24);
    // What is computed again ends where the last step begins, on each level.
    CHECK(evaluations(eddy::nested_scan(cell, {4, 3, 2}, store_all, dropped)) ==
          24 + 24 + 4 * (3 - 1) * 2);
    CHECK(evaluations(eddy::nested_scan(cell, {6, 4}, keep_states, dropped)) > 3 * 24);
    CHECK(eddy::nested_scan(cell, {2, 12})(input, p) == expected.first);
}

TEST_CASE("nested_scan: lengths that do not fit are told, and a report shows the levels") {
    const auto net = eddy::nested_scan(Cell{}, {6, 3});
    CHECK(support::mentions(support::message_of([&] { (void)net(input, p); }),
                            "24 inputs or output cotangents for lengths whose product is 18"));
    CHECK(support::mentions(support::message_of([&] {
                                (void)eddy::nested_scan(Cell{}, {6, 0});
                            }),
                            "a length of 0; give at least 1"));
    CHECK(support::mentions(eddy::saved_residuals(net),
                            "  scan, which keeps of each step what its linearization keeps\n"
                            "    remat, which keeps what goes in\n"
                            "      scan, which keeps of each step what its linearization keeps\n"));
}
