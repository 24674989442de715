// Which machine solves a call that names none: the rule, printed for a table of equations and calls, and that nothing else
// of a call depends on it.

#include <cmath>
#include <cstdio>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <eddy/trace/nn/mlp.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::detail::CallKind;
using Array = eddy::EnsembleArray<double>;

template <int rows, int columns, int begin = 0>
constexpr auto matrix(const auto& p) {
    return eddy::slice<begin, rows * columns>(p);
}
/// dy/dt = A y with A in p.
template <int size>
struct Linear {
    static constexpr int state_size = size, parameter_size = size * size;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::dense(matrix<size, size>(p), 0.0 * y, y);
    }
};
/// A matrix that the equation computes: no weights.
struct Computed : Linear<32> {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::dense(0.5 * matrix<32, 32>(p), 0.0 * y, y);
    }
};
struct Repeated : Linear<32> {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::repeat<3>(y, [&](const auto& x) {
            return eddy::tanh(eddy::dense(matrix<32, 32>(p), 0.0 * x, x));
        });
    }
};
/// No layer, whatever its size.
template <int size>
struct Ring {
    static constexpr int state_size = size, parameter_size = 65;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::concat(eddy::slice<1, size - 1>(y), eddy::slice<0, 1>(y) * p[64]) - p[0] * y;
    }
};
/// As many components as go over rows, on processors for which rows have machine code.
constexpr bool width_decides = eddy::detail::least_states<double> < 1000;
constexpr int wide = width_decides ? eddy::detail::least_states<double> : 40;
struct RingInTurns : Ring<wide> {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::repeat<3>(y, [&](const auto& x) { return Ring<wide>{}(t, x, p); });
    }
};
struct RingOfFunctions : Ring<wide> {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Ring<wide>{}(t, eddy::tanh(y), p);
    }
};
struct Driven : Linear<32> {
    static constexpr int input_size = 1, input_degree = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return u[0] * eddy::dense(matrix<32, 32>(p), 0.0 * y, y);
    }
};
struct DrivenSmoothly : Driven {
    static constexpr bool input_is_smooth = true;
};
struct Ending : Linear<32> {
    using Linear<32>::operator();
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0] - 2.0; }
};
constexpr auto network = eddy::nn::mlp<2, 32, 32, 2>(eddy::nn::tanh);
using Network = std::remove_const_t<decltype(network)>;
using SmallNetwork = eddy::nn::Mlp<2, 16, 2>;

using Shared = decltype(eddy::shared(std::declval<const std::vector<double>&>()));

template <CallKind call, class Field, class Method, class Parameters, class... Extras>
constexpr bool by_tiles = std::is_same_v<
    eddy::detail::BackendOfCall<call, Field, Method,
                                eddy::detail::ExtrasOf<Field, Method, Extras...>, Parameters>,
    eddy::Tiles>;

/// A line of the table: what goes by Tiles of solve, gradient, pullback, pushforward and Hessian.
template <class Field, class Method = eddy::Tsit5, class Parameters = Shared, class... Extras>
std::string chosen(const char* name) {
    const std::string machines{
        by_tiles<CallKind::solve, Field, Method, Parameters, Extras...> ? 'T' : 'C',
        by_tiles<CallKind::gradient, Field, Method, Parameters, Extras...> ? 'T' : 'C',
        by_tiles<CallKind::pullback, Field, Method, Parameters, Extras...> ? 'T' : 'C',
        by_tiles<CallKind::pushforward, Field, Method, Parameters, Extras...> ? 'T' : 'C',
        by_tiles<CallKind::hessian, Field, Method, Parameters, Extras...> ? 'T' : 'C'};
    std::printf("%-44s", name);
    for (const char machine : machines) std::printf("%-12s", machine == 'T' ? "Tiles" : "Cpu");
    std::printf("\n");
    return machines;
}

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-6, .atol = 1e-8};

struct Batch {
    Array y0{37, 2}, data{37, 2, 0.5}, along{37, 2, 1};
    std::vector<double> p = eddy::nn::glorot_uniform<double>(network, 3);
    std::vector<double> direction = std::vector<double>(p.size(), 0.25);
    Batch() {
        for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
            y0(lane, 0) = 1 - 0.05 * static_cast<double>(lane);
            y0(lane, 1) = 0.04 * static_cast<double>(lane) - 0.5;
        }
    }
};
std::vector<double> numbers(const auto& array) {
    const auto view = eddy::ensemble_view(array);
    std::vector<double> all;
    for (std::ptrdiff_t i = 0; i < view.num_components; ++i)
        for (std::ptrdiff_t lane = 0; lane < view.num_lanes; ++lane) all.push_back(view(lane, i));
    return all;
}

}  // namespace

TEST_CASE("choose_machine: layers with shared weights go by Tiles, other narrow equations by Cpu") {
    std::printf("%-44s%-12s%-12s%-12s%-12s%s\n", "no backend named", "solve", "gradient",
                "pullback", "pushforward", "Hessian");

    CHECK(chosen<Network>("2-32-32-2") == "TTTCC");
    CHECK(chosen<Linear<32>>("A y, 1,024 numbers") == "TTTCC");
    CHECK(chosen<Repeated>("a layer in a loop") == "TTTCC");
    CHECK(chosen<Driven>("a layer, inputs") == "TTTCC");
    CHECK(chosen<Network, eddy::Bosh3, Shared, eddy::ConstantController>(
              "2-32-32-2, constant steps") == "TTTCC");
    CHECK(chosen<Network, eddy::Tsit5, Shared, eddy::DifferentiateTimes>(
              "2-32-32-2, differentiate_times") == "TTTCC");

    CHECK(chosen<Linear<31>>("A y, 961 numbers") == "CCCCC");
    CHECK(chosen<SmallNetwork>("2-16-2") == "CCCCC");
    CHECK(chosen<Network, eddy::Tsit5, Array>("2-32-32-2, weights of each trajectory's own") ==
          "CCCCC");
    CHECK(chosen<Computed>("A y, A computed") == "CCCCC");
    CHECK(chosen<RingInTurns>("as many components as are wide, in a loop") == "CCCCC");
    CHECK(chosen<RingOfFunctions>("as many, each in a function") == "CCCCC");
    CHECK(chosen<Ring<wide - 1>>("one component less than is wide") == "CCCCC");
    CHECK(chosen<support::Lorenz>("Lorenz") == "CCCCC");
    CHECK(chosen<DrivenSmoothly>("a layer, smooth inputs") == "CCCCC");
    CHECK(chosen<Ending>("a layer, event") == "CCCCC");
    CHECK(chosen<Network, eddy::Rodas5P>("2-32-32-2, Rodas5P") == "CCCCC");
    CHECK(chosen<Network, eddy::Tsit5, Shared, eddy::EstimateGradientError>(
              "2-32-32-2, estimate_gradient_error") == "TCCCC");
    CHECK(chosen<Network, eddy::Tsit5, Shared, eddy::Cpu>("2-32-32-2, Cpu{}") == "CCCCC");
    CHECK(chosen<Network, eddy::Tsit5, Shared, eddy::Serial>("2-32-32-2, Serial{}") == "CCCCC");
}

TEST_CASE("choose_machine: from so many components on, packs as wide as rows, all go by Tiles") {
    std::printf("wide: from %d components on, in single precision from %d (2147483647: never)\n",
                eddy::detail::least_states<double>, eddy::detail::least_states<float>);
    const std::string by_width = width_decides ? "TTTCC" : "CCCCC";

    CHECK(chosen<Ring<wide>>("as many components as are wide") == by_width);
    CHECK(chosen<Ring<wide>, eddy::Tsit5, Array>("the same, parameters of each one's own") ==
          by_width);
    CHECK(chosen<Ring<wide>, eddy::Bosh3, Shared, eddy::ConstantController>(
              "the same, constant steps") == by_width);
    CHECK(chosen<Ring<wide>, eddy::Tsit5, eddy::EnsembleArray<float>>("the same, float") ==
          (eddy::detail::least_states<float> > wide ? "CCCCC" : by_width));
    CHECK(chosen<Ring<wide>, eddy::Rodas5P>("the same, Rodas5P") == "CCCCC");
    CHECK(chosen<Ring<wide>, eddy::Tsit5, Shared, eddy::Cpu>("the same, Cpu{}") == "CCCCC");
}

TEST_CASE("choose_machine: wide equations have the steps and states of Serial") {
    constexpr Ring<wide> ring;
    Array y0(37, wide), p(37, 65, 0.5);
    for (std::ptrdiff_t lane = 0; lane < 37; ++lane)
        for (int i = 0; i < wide; ++i)
            y0(lane, i) = 0.1 * static_cast<double>((7 * lane + 3 * i) % 11);
    const auto calls = [&](const auto&... backend) {
        auto solver =
            eddy::gradient_solver(ring, eddy::Tsit5{}, SquaredError{}, options, backend...);
        static_cast<void>(solver(y0, y0, p));
        return std::pair{eddy::solve(ring, eddy::Tsit5{}, y0, p, options, backend...),
                         solver(y0, y0, p)};
    };

    const auto [solution, gradient] = calls();
    const auto [of_serial, gradient_of_serial] = calls(eddy::Serial{});

    CHECK(numbers(solution.y()) == numbers(of_serial.y()));
    CHECK(solution.stats(36).accepted == of_serial.stats(36).accepted);
    CHECK(gradient.loss(36) == gradient_of_serial.loss(36));
    const auto found = numbers(gradient.gradient.p),
               wanted = numbers(gradient_of_serial.gradient.p);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(std::abs(found[i] - wanted[i]) < 1e-12 * (1 + std::abs(wanted[i])));
}

TEST_CASE("choose_machine: calls have the bits of the machine that is chosen") {
    const Batch b;
    const auto p = eddy::shared(b.p);

    const auto solution = eddy::solve(network, eddy::Tsit5{}, b.y0, p, options);
    const auto pulled = eddy::pullback(solution, b.along);
    auto solver = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options);
    const std::vector<double> gradient = numbers(solver(b.data, b.y0, p).gradient.p);

    const auto by_name = eddy::solve(network, eddy::Tsit5{}, b.y0, p, options, eddy::Tiles{});
    CHECK(numbers(solution.y()) == numbers(by_name.y()));
    CHECK(numbers(pulled.gradient.p) == numbers(eddy::pullback(by_name, b.along).gradient.p));
    auto tiles =
        eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options, eddy::Tiles{});
    CHECK(gradient == numbers(tiles(b.data, b.y0, p).gradient.p));
    // Cpu adds up in another order.
    auto cpu = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options, eddy::Cpu{});
    const std::vector<double> of_cpu = numbers(cpu(b.data, b.y0, p).gradient.p);
    for (std::size_t i = 0; i < of_cpu.size(); ++i)
        CHECK(std::abs(gradient[i] - of_cpu[i]) < 1e-12 * (1 + std::abs(of_cpu[i])));
}

TEST_CASE("choose_machine: solver objects have pushforwards and Hessians between other calls") {
    const Batch b;
    const auto p = eddy::shared(b.p), direction = eddy::shared(b.direction);
    auto solver = eddy::ensemble_solver(network, eddy::Tsit5{}, options);
    auto gradient = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options);

    const auto end = numbers(solver(b.y0, p).y());
    const auto first = numbers(gradient(b.data, b.y0, p).gradient.p);
    const auto tangent = numbers(solver(b.y0, p, b.along, direction).tangent());
    const auto product =
        numbers(gradient.hessian_vector_product(b.data, b.y0, p, b.along, direction).product.p);
    auto copy = solver;

    auto cpu = eddy::ensemble_solver(network, eddy::Tsit5{}, options, eddy::Cpu{});
    CHECK(tangent == numbers(cpu(b.y0, p, b.along, direction).tangent()));
    auto gradient_of_cpu =
        eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{}, options, eddy::Cpu{});
    CHECK(
        product ==
        numbers(
            gradient_of_cpu.hessian_vector_product(b.data, b.y0, p, b.along, direction).product.p));
    CHECK(numbers(solver(b.y0, p).y()) == end);
    CHECK(numbers(copy(b.y0, p).y()) == end);
    CHECK(numbers(gradient(b.data, b.y0, p).gradient.p) == first);
}

TEST_CASE("choose_machine: a start that is NaN is an error where no machine is named") {
    Batch b;
    b.y0(13, 1) = std::numeric_limits<double>::quiet_NaN();
    const auto p = eddy::shared(b.p);
    auto solver = eddy::ensemble_solver(network, eddy::Tsit5{}, options);

    const std::string message = support::message_of([&] { static_cast<void>(solver(b.y0, p)); });

    CHECK(support::mentions(message, "y0(13, 1) = nan"));
    const auto named = eddy::solve(network, eddy::Tsit5{}, b.y0, p, options, eddy::Tiles{});
    CHECK(named.result(13) == eddy::Result::non_finite);
    CHECK(named.result(12) == eddy::Result::success);
}
