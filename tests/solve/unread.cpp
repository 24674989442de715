// A gradient says which parameters nothing reads.

#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
using Unread = std::vector<eddy::UnreadParameter>;

/// Reads p[0] and p[2].
struct Decay {
    static constexpr int state_size = 1, parameter_size = 5;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return -p[0] * p[2] * y; }
};
/// Reads p[3].
struct Loss {
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return p[3] * y[0]; }
};
/// Reads p[1].
struct Start {
    constexpr auto operator()(const auto& p) const { return eddy::vec(p[1]); }
};
const Array starts(3, 1, 1.);

Unread unread(const auto& from, const auto& p) {
    const auto told_by = [&](const auto& backend) {
        return eddy::value_and_gradient(Decay{}, eddy::Euler{}, Loss{}, from, p,
                                        {.t1 = 1, .dt0 = 0.5}, backend)
            .report.unread;
    };
    const Unread of_packs = told_by(eddy::Serial{});
    CHECK(told_by(eddy::Rows{}) == of_packs);
    return of_packs;
}

}  // namespace

TEST_CASE("unread: parameters that neither the equation, nor the start, nor the loss reads") {
    const Array p(3, 5, 1.), own(3, 2, 1.);
    const std::vector<double> common(3, 1.);

    CHECK(unread(starts, p) == Unread{{-1, 1, false}, {-1, 4, false}});
    CHECK(unread(eddy::start_from(Start{}), p) == Unread{{-1, 4, false}});
    CHECK(unread(starts, eddy::shared(std::vector<double>(5, 1.))) ==
          Unread{{-1, 1, false}, {-1, 4, false}});
    CHECK(unread(starts, eddy::parameters(own, common)) == Unread{{-1, 1, false}, {0, 2, true}});
}

TEST_CASE("unread: entries of a table that no trajectory selects, or only where nothing reads") {
    const Array theta(2, 6, 1.);
    const std::vector<int> index{0, 1, 2, 3, 3}, rows{0, 1, 0}, of_first{0, 0, 0};
    const Unread of_both{{0, 1}, {0, 4}, {0, 5}, {1, 1}, {1, 4}, {1, 5}};

    CHECK(unread(starts, eddy::selected(theta, rows, index)) == of_both);
    CHECK(unread(starts, eddy::selected(theta, of_first, index)).size() == 3 + 6);
}
