// Forward mode on a device, and forward over reverse: tangents and products of a Hessian with a direction
// have the bits of Serial, whatever becomes of the lanes and however little is kept.
#include <eddy/backends/cuda.hpp>

#include "solve/device_cases.hpp"

namespace {

const auto as_it_is = oracle::as_it_is<eddy::Cuda>();
const auto two_ways = oracle::two_ways<eddy::Cuda>(std::size_t{64} << 20, 400'000);

/// Of the total loss, by the start of each lane and parameters that all share.
void compare_products(const std::vector<oracle::Case>& cases,
                      const std::vector<oracle::Way<eddy::Cuda>>& ways, std::ptrdiff_t count) {
    const oracle::Lanes<double> lanes(count);
    static_cast<void>(oracle::compare(
        cases, ways,
        [&](const eddy::SolveOptions& options, const auto& backend) {
            return eddy::hessian_vector_product(
                oracle::Rough{}, eddy::Tsit5{}, oracle::Distance{}, lanes.data(options), lanes.y0,
                eddy::shared(lanes.shared_p), lanes.y0_direction,
                eddy::shared(lanes.shared_direction), options, backend);
        },
        [](const auto& expected, const auto& got) { oracle::check_same(expected, got); }));
}

}  // namespace

TEST_CASE("device tangents: pushed forward as Serial does, with the steps, in either norm") {
    const oracle::Lanes<double> lanes(1009);
    for (const bool in_norm : {false, true}) {
        const auto endings = oracle::compare(
            oracle::adaptive_cases, as_it_is,
            [&](eddy::SolveOptions options, const auto& backend) {
                options.save_steps = !in_norm;
                options.tangents_in_error_norm = in_norm;
                return eddy::pushforward(oracle::Rough{}, eddy::Tsit5{}, lanes.y0, lanes.p,
                                         lanes.y0_direction, lanes.p_direction, options,
                                         eddy::observe(oracle::Observed{}), backend);
            },
            [](const auto& expected, const auto& got) { oracle::check_same(expected, got, true); });
        CHECK(endings.count(eddy::Result::success) == 1);
        CHECK(endings.count(eddy::Result::non_finite) == 1);
    }
}

TEST_CASE("device tangents: products with a Hessian, with few states kept and with all") {
    compare_products(oracle::device_cases, two_ways, 101);
}

TEST_CASE("device tangents: and their sums over any number of lanes") {
    for (const std::ptrdiff_t count : {1, 31, 33, 4200, 20'011}) {
        INFO(count << " lanes");
        compare_products(oracle::device_jumps, as_it_is, count);
    }
}
