// Products with Hessians by two methods: those of each lane are those of the method that finished it.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>

#include "solve/switch_lanes.hpp"
#include "support/catch.hpp"

namespace {

using namespace switching;
using support::same_row;

struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};

}  // namespace

TEST_CASE("AutoSwitch: products with Hessians are those of the method that finished the lane") {
    constexpr std::ptrdiff_t count = 12;
    const Lanes lanes(count);
    const Array y0_direction(count, 2, 1.), p_direction(count, 1, 0.5);
    const auto product_by = [&](const auto& method, const auto& backend) {
        return eddy::hessian_vector_product(Field{}, method, Squares{}, lanes.y0, lanes.p,
                                            y0_direction, p_direction, options, backend);
    };

    const auto both = product_by(Both{}, eddy::Cpu{.threads = 1});
    const auto first = product_by(First{}, eddy::Serial{});  // the bits of Cpu, compiled in no time
    const auto second = product_by(Second{}, eddy::Cpu{.threads = 1});

    CHECK(both.report.num_switched() > 2);
    CHECK(both.report.num_switched() < 10);
    for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
        INFO("lane " << lane);
        const auto check = [&](const auto& alone) {
            CHECK(same_outcome(both.report, alone.report, lane));
            CHECK(support::same_bits(both.loss(lane), alone.loss(lane)));
            CHECK(same_row(both.gradient.p, lane, alone.gradient.p, lane));
            CHECK(same_row(both.product.y0, lane, alone.product.y0, lane));
            CHECK(same_row(both.product.p, lane, alone.product.p, lane));
        };
        if (both.report.switched(lane))
            check(second);
        else
            check(first);
    }
}
