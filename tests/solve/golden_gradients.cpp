// The bits of gradients, held to those of golden_bits.txt: golden_bits.cpp says how. Three sizes of
// checkpoints; parameters of each lane and shared ones; save points, jumps, failures.

#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/golden_problem.hpp"

namespace {

using eddy::SolveOptions;
using golden::Distance;
using golden::Lanes;
using golden::Swing;

void add_derivatives(support::GoldenBits& bits, const std::string& name, const auto& gradient) {
    bits.add_array(name + ".y0", gradient.y0);
    bits.add_array(name + ".p", gradient.p);
}

template <class Result>
void add_gradient(support::GoldenBits& bits, const std::string& name, const Result& result) {
    bits.add_outcomes(name, result.report);
    support::BitHash losses;
    for (std::ptrdiff_t lane = 0; lane < result.report.num_lanes(); ++lane)
        losses.add(result.loss(lane));
    bits.add(name + ".losses", losses);
    bits.add(name + ".loss", result.loss.total_of_successful);
    add_derivatives(bits, name, result.gradient);
}

/// Gradients of one type, for many options.
template <class Method, class Real, bool shares, class... Extras>
class Gradients {
  public:
    Gradients(support::GoldenBits& bits, std::ptrdiff_t num_lanes, double width = 0.5)
        : bits_(bits), lanes_(num_lanes, width) {}

    void operator()(const std::string& name, const SolveOptions& options, const Extras&... extras) {
        const auto data = Lanes<Real>::data(options.save_at.values.size());
        const auto differentiate = [&](const auto& p) {
            add_gradient(bits_, name,
                         eddy::value_and_gradient(Swing{}, Method{}, Distance{}, data, lanes_.y0, p,
                                                  options, golden::two_threads, extras...));
        };
        if constexpr (shares)
            differentiate(eddy::shared(lanes_.shared_p));
        else
            differentiate(lanes_.p);
    }

  private:
    support::GoldenBits& bits_;
    Lanes<Real> lanes_;
};

}  // namespace

TEST_CASE("golden bits: gradients, whatever is stored") {
    auto bits = golden::bits_of("gradients");
    Gradients<eddy::Tsit5, double, false> differentiate(bits, 101);
    const SolveOptions options{.t1 = 2, .rtol = 1e-5, .atol = 1e-7, .save_at = {0.3, 1.1, 2}};

    for (const int checkpoints : {0, 1, 4}) {
        auto fewer = options;
        fewer.checkpoints = checkpoints;
        differentiate("checkpoints" + std::to_string(checkpoints), fewer);
    }
    auto without_log = options;
    without_log.memory_budget = 1;
    differentiate("without_log", without_log);
    differentiate("backward", {.t0 = 2, .t1 = 0, .save_at = {2, 1.1, 0}, .checkpoints = 3});
    differentiate("stops", {.t1 = 2,
                            .rtol = 1e-4,
                            .save_at = {0, 0.5, 0.7, 2},
                            .step_to = {0.5, 0.6},
                            .jump_times = {0.7, 1.9}});
    bits.check();
}

TEST_CASE("golden bits: gradients of lanes some of which fail, and of shared parameters") {
    auto bits = golden::bits_of("gradients_shared");
    // Along the steps of the state alone: lanes near a blow-up would be solved once more.
    const SolveOptions options{.t1 = 3,
                               .rtol = 1e-4,
                               .save_at = {0.2, 1, 3},
                               .max_steps = 60,
                               .checkpoints = 5,
                               .stable_gradients = false};
    for (const std::ptrdiff_t num_lanes : {1, 65, 4200}) {
        Gradients<eddy::Tsit5, double, true> differentiate(bits, num_lanes, 3);
        differentiate("lanes" + std::to_string(num_lanes), options);
    }
    bits.check();
}

TEST_CASE("golden bits: gradients in single precision") {
    auto bits = golden::bits_of("gradients_single");
    Gradients<eddy::Bosh3, float, false> differentiate(bits, 101, 3);
    differentiate("chosen", {.t1 = 2, .rtol = 1e-3, .atol = 1e-4, .save_at = {0.4, 2}});
    Gradients<eddy::RK4, float, true> by_constant_steps(bits, 101);
    const SolveOptions options{.t1 = 2, .save_at = {0.4, 2}, .dt0 = 0.0625};
    for (const int checkpoints : {0, 1, 4}) {
        auto fewer = options;
        fewer.checkpoints = checkpoints;
        by_constant_steps("constant" + std::to_string(checkpoints), fewer);
    }
    bits.check();
}

TEST_CASE("golden bits: gradients by a method of high order") {
    auto bits = golden::bits_of("gradients_high");
    Gradients<eddy::Dopri8, double, false> differentiate(bits, 101);
    differentiate("order8", {.t1 = 2, .rtol = 1e-9, .save_at = {0.3, 1.1, 2}, .checkpoints = 2});
    bits.check();
}

TEST_CASE("golden bits: gradients with respect to times") {
    auto bits = golden::bits_of("gradients_times");
    const Lanes<double> lanes(101);
    const SolveOptions options{
        .t1 = 2, .rtol = 1e-5, .save_at = {0.3, 1.1, 2}, .step_to = {0.3, 1}, .checkpoints = 3};
    const auto result = eddy::value_and_gradient(Swing{}, eddy::Bosh3{}, Distance{},
                                                 Lanes<double>::data(3), lanes.y0, lanes.p, options,
                                                 golden::two_threads, eddy::differentiate_times);
    add_gradient(bits, "times", result);
    bits.add_array("times.t0", result.gradient.t0.view());
    bits.add_array("times.t1", result.gradient.t1.view());
    bits.add_array("times.save_at", result.gradient.save_at);
    bits.check();
}

TEST_CASE("golden bits: forward mode, and forward over reverse") {
    auto bits = golden::bits_of("gradients_forward");
    const Lanes<double> lanes(101);
    const eddy::EnsembleArray<double> y0_tangent(101, 2, 0.5), p_tangent(101, 3, -0.25);
    const SolveOptions options{.t1 = 2, .rtol = 1e-5, .save_at = {0.3, 2}};

    const auto pushed = eddy::pushforward(Swing{}, eddy::Bosh3{}, lanes.y0, lanes.p, y0_tangent,
                                          p_tangent, options, golden::two_threads);
    bits.add_outcomes("pushforward", pushed);
    bits.add_array("pushforward.y", pushed.y(1));
    bits.add_array("pushforward.tangent0", pushed.tangent(0));
    bits.add_array("pushforward.tangent1", pushed.tangent(1));

    const auto product = eddy::hessian_vector_product(
        Swing{}, eddy::Bosh3{}, Distance{}, Lanes<double>::data(2), lanes.y0,
        eddy::shared(lanes.shared_p), y0_tangent, eddy::shared(std::vector<double>{1, -1, 0.5}),
        options, golden::two_threads);
    add_gradient(bits, "hessian", product);
    add_derivatives(bits, "hessian.product", product.product);
    bits.check();
}
