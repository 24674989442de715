// Matrices and structs as arguments and results of programs, as carries and parameters of loops.

#include <cmath>
#include <eddy/ad/gradient.hpp>
#include <eddy/ad/linearize.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

using eddy::Mat;
using eddy::Matrix;
using eddy::Member;
using eddy::Struct;
using eddy::Vec;
using eddy::Vector;

namespace {

template <class Values>
Values filled(double first, double step) {
    Values values{};
    for (double& value : values) value = first, first += step;
    return values;
}
template <int rows, int columns>
Mat<double, rows, columns> matrix(double first, double step) {
    return {filled<Vec<double, rows * columns>>(first, step)};
}

struct Sine {  // the first example of the tutorial of jax.checkpoint
    constexpr auto operator()(const auto& W, const auto& x) const { return sin(W * x); }
};
struct ThreeSines {
    constexpr auto operator()(const auto& W1, const auto& W2, const auto& W3, const auto& x) const {
        return Sine{}(W3, Sine{}(W2, Sine{}(W1, x)));
    }
};

template <class Kind>
struct Layer {
    Member<Kind, Matrix<4, 4>> weights;
    Member<Kind, Vector<4>> bias;
    Member<Kind, eddy::Scalar> scale;
};
template <class Kind>
struct Network {
    Member<Kind, Struct<Layer>> first;
    Member<Kind, Matrix<2, 4>> last;
};
struct Apply {
    constexpr auto operator()(const auto& x, const auto& layer) const {
        return tanh(layer.scale * (layer.weights * x) + layer.bias);
    }
};
struct Next {
    template <class Kind>
    constexpr Layer<Kind> operator()(const Layer<Kind>& x) const {
        return {0.5 * x.weights, x.weights * x.bias, x.scale * x.scale};
    }
};
const Layer<double> layer{matrix<4, 4>(-0.3, 0.05), {0.1, -0.2, 0.3, -0.4}, 0.7};
constexpr auto apply = eddy::trace<Vector<4>, Struct<Layer>>(Apply{});

struct Decay {  // a plain struct without any +, as a parameter
    std::vector<double> rates;
    double offset;
};
struct Body {
    struct Linearization {
        double value, x;
        Decay p;
        std::pair<double, double> unused{};
        std::tuple<double, Decay> pullback(double c) const {
            return {c * p.rates[0], Decay{{c * x}, c}};
        }
    };
    double operator()(double x, const Decay& p) const { return x * p.rates[0] + p.offset; }
    Linearization linearize(double x, const Decay& p) const { return {(*this)(x, p), x, p}; }
};

/// Modules, which hold their parameters.
template <class Kind>
struct Affine {
    Member<Kind, Matrix<2, 2>> weights;
    Member<Kind, Vector<2>> bias;
    constexpr auto operator()(const auto& x) const { return weights * x + bias; }
};
template <class Kind>
struct Perceptron {
    Member<Kind, Struct<Affine>> first, last;
    constexpr auto operator()(const auto& x) const { return last(tanh(first(x))); }
};

enum class Kink { smooth, sharp };
/// x -> x² or |x|, noted under a label: what it is called with beside x has no derivative.
struct Power {
    struct Linearization {
        double value, slope;
        std::tuple<double, eddy::NotDifferentiated, eddy::NotDifferentiated> pullback(
            double c) const {
            return {c * slope, {}, {}};
        }
    };
    double operator()(double x, Kink kink, const std::string& label) const {
        if (label.empty()) throw std::logic_error("a label was lost");
        return kink == Kink::smooth ? x * x : std::abs(x);
    }
    Linearization linearize(double x, Kink kink, const std::string& label) const {
        return {(*this)(x, kink, label), kink == Kink::smooth ? 2 * x : x < 0 ? -1.0 : 1.0};
    }
};

struct Listed {
    double value = 0;
    const char* note = "";
    static constexpr auto members = std::tuple(&Listed::value);
};

}  // namespace

TEST_CASE("row 55: W x without a bias is one node, and its derivatives are matrices") {
    constexpr auto f =
        eddy::trace<Matrix<5, 4>, Matrix<6, 5>, Matrix<7, 6>, Vector<4>>(ThreeSines{});
    const auto W1 = matrix<5, 4>(-0.5, 0.06);
    const auto W2 = matrix<6, 5>(0.4, -0.03);
    const auto W3 = matrix<7, 6>(-0.2, 0.01);
    const Vec<double, 4> x{1.0, -2.0, 3.0, 0.5};
    const auto cotangent = filled<Vec<double, 7>>(1.0, 0.25);

    const auto linearization = eddy::differentiable(f).linearize(W1, W2, W3, x);
    const auto [of_W1, of_W2, of_W3, of_x] = linearization.pullback(cotangent);

    CHECK(f.graph.size() == 4 + 6);
    CHECK(linearization.value == ThreeSines{}(W1, W2, W3, x));
    auto more = W2, less = W2;
    more(3, 1) += 1e-6;
    less(3, 1) -= 1e-6;
    const double difference =
        (dot(cotangent, f(W1, more, W3, x)) - dot(cotangent, f(W1, less, W3, x))) / 2e-6;
    CHECK(of_W2(3, 1) == Approx(difference).epsilon(1e-7));
    CHECK(of_W1.num_rows() == 5);
    CHECK(of_W3.num_columns() == 6);
    CHECK(of_x.size() == 4);
}

TEST_CASE("row 55: products of matrices, and of a vector with a matrix, as numpy has them") {
    constexpr auto product = eddy::trace<Matrix<2, 3>, Matrix<3, 4>>(
        [](const auto& A, const auto& B) { return 2.0 * (A * B) + A * B; });
    constexpr auto row =
        eddy::trace<Vector<3>, Matrix<3, 4>>([](const auto& x, const auto& B) { return x * B; });
    const Mat<double, 2, 3> A{{1, 2, 3, 4, 5, 6}};
    const Mat<double, 3, 4> B = matrix<3, 4>(1, 1);

    const Mat<double, 2, 4> C = product(A, B);
    CHECK(C == Mat<double, 2, 4>{{114, 132, 150, 168, 249, 294, 339, 384}});
    CHECK(C == 2.0 * (A * B) + A * B);
    CHECK(row(Vec<double, 3>{4, 5, 6}, B) == Vec<double, 4>{83, 98, 113, 128});

    const auto [of_A, of_B] = eddy::differentiable(product).linearize(A, B).pullback(
        Mat<double, 2, 4>{{1, 0, 0, 0, 0, 0, 0, 1}});
    CHECK(of_A == Mat<double, 2, 3>{{3, 15, 27, 12, 24, 36}});
    CHECK(of_B(2, 3) == 18);
}

TEST_CASE("row 18: a struct is an argument, a result, and the type of its cotangent") {
    const Vec<double, 4> x{0.3, -0.1, 0.2, 0.9}, cotangent{1.0, 2.0, -1.0, 0.5};
    const auto linearization = eddy::differentiable(apply).linearize(x, layer);
    CHECK(linearization.value == apply(x, layer));
    const Vec<double, 4> by_hand = Apply{}(x, layer);  // without fused multiply-adds
    for (int i = 0; i < 4; ++i) CHECK(linearization.value[i] == Approx(by_hand[i]).epsilon(1e-14));

    const auto [of_x, of_layer] = linearization.pullback(cotangent);
    const Layer<double>& typed = of_layer;
    Layer<double> more = layer, less = layer;
    more.scale += 1e-6;
    less.scale -= 1e-6;
    CHECK(typed.scale ==
          Approx((dot(cotangent, apply(x, more)) - dot(cotangent, apply(x, less))) / 2e-6)
              .epsilon(1e-7));
    CHECK(of_x == eddy::vjp<0>(apply)(x, layer, cotangent));
    CHECK(eddy::structured<Layer<double>>(eddy::vjp<1>(apply)(x, layer, cotangent)).weights ==
          typed.weights);

    constexpr auto nested = eddy::trace<Struct<Network>, Vector<4>>(
        [](const auto& net, const auto& y) { return net.last * Apply{}(y, net.first); });
    const Network<double> network{layer, matrix<2, 4>(1, 1)};
    CHECK(nested(network, x) == network.last * apply(x, layer));
    const auto [of_network, of_y] =
        eddy::differentiable(nested).linearize(network, x).pullback(Vec<double, 2>{1, 0});
    CHECK(of_network.last(0, 2) == apply(x, layer)[2]);
    CHECK(of_y.size() == 4);

    constexpr auto within = eddy::trace<Struct<Layer>, Vector<4>>(
        [](const auto& given, const auto& y) { return apply(y, Next{}(given)); });
    CHECK(within(layer, x) == apply(x, Next{}(layer)));
}

TEST_CASE("row 18: layers of a scan are structs, one for each step or one for all") {
    const std::vector<Layer<double>> layers(3, layer);
    const Vec<double, 4> x{0.3, -0.1, 0.2, 0.9}, cotangent{1.0, 2.0, -1.0, 0.5};

    auto apart = eddy::scan(apply).linearize(x, layers);
    auto shared = eddy::scan(apply, {.placement = eddy::Placement::store_all, .length = 3})
                      .linearize(x, layer);
    const auto [of_x, of_layers] = apart.pullback(cotangent);
    const auto [same_x, of_layer] = shared.pullback(cotangent);

    CHECK(of_x == same_x);
    CHECK(of_layer.scale == Approx(of_layers[0].scale + of_layers[1].scale + of_layers[2].scale));
    CHECK(of_layer.weights(3, 3) == Approx(of_layers[0].weights(3, 3) + of_layers[1].weights(3, 3) +
                                           of_layers[2].weights(3, 3)));
}

TEST_CASE("row 18: a struct is the state of a loop over a program") {
    constexpr auto next = eddy::trace<Struct<Layer>>(Next{});
    const auto loop = eddy::while_loop([](const Layer<double>&, std::int64_t k) { return k < 3; },
                                       next, {.checkpoints = 2});
    auto linearization = loop.linearize(layer);
    const Layer<double> value = linearization.value;
    CHECK(value.bias == Next{}(Next{}(Next{}(layer))).bias);
    const Layer<double> back = linearization.pullback({.weights = {}, .bias = {}, .scale = 1});
    CHECK(back.scale == Approx(8 * std::pow(layer.scale, 7)));
}

TEST_CASE("row 18: a plain struct is a parameter, and its cotangents are added up by members") {
    const auto loop =
        eddy::while_loop([](double, std::int64_t k) { return k < 3; }, Body{}, {.checkpoints = 2});
    auto linearization = loop.linearize(2.0, Decay{{0.5}, 0.25});
    const auto [of_x, of_p] = linearization.pullback(1.0);
    CHECK(of_x == 0.125);
    CHECK(of_p.offset == 1.75);
    CHECK(of_p.rates[0] == 2.0 * 0.25 + 1.25 * 0.5 + 0.875);

    const auto none =
        eddy::while_loop([](double, std::int64_t) { return false; }, Body{}, {.checkpoints = 2});
    auto zero = none.linearize(2.0, Decay{{0.5}, 0.25});
    CHECK(std::get<1>(zero.pullback(1.0)).rates == std::vector{0.0});
}

TEST_CASE("row 89: modules hold their parameters, and a gradient is a module of the same type") {
    constexpr auto net = eddy::trace<Struct<Perceptron>, Vector<2>>(
        [](const auto& model, const auto& x) { return model(x); });
    const Perceptron<double> model{{matrix<2, 2>(0.1, 0.2), {0.3, -0.4}},
                                   {matrix<2, 2>(1.0, -0.5), {0.0, 1.0}}};
    const Vec<double, 2> x{0.5, -1.5}, cotangent{1.0, 2.0};

    const auto linearization = eddy::remat(net).linearize(model, x);
    const auto [of_module, of_x] = linearization.pullback(cotangent);

    const Perceptron<double>& gradient = of_module;
    CHECK(linearization.value[1] == Approx(model(x)[1]).epsilon(1e-14));
    CHECK(gradient.last.bias == cotangent);
    auto more = model, less = model;
    more.first.weights(0, 1) += 1e-6;
    less.first.weights(0, 1) -= 1e-6;
    CHECK(gradient.first.weights(0, 1) ==
          Approx((dot(cotangent, more(x)) - dot(cotangent, less(x))) / 2e-6).epsilon(1e-7));
    CHECK(of_x == eddy::vjp<1>(net)(model, x, cotangent));
}

TEST_CASE("row 101: arguments that are no numbers go through checkpoints as they are") {
    using Nothing = eddy::NotDifferentiated;
    const std::string label = "a text that is too long to be stored within the string itself";
    const std::tuple expected(2 * 3.0 * 0.5, Nothing{}, Nothing{});
    CHECK(eddy::checkpoint(Power{}).linearize(3.0, Kink::smooth, label).pullback(0.5) == expected);
    const auto thrice = [](double, std::int64_t k) { return k < 3; };
    for (const eddy::LoopOptions& options :
         {eddy::LoopOptions{.checkpoints = 1},
          eddy::LoopOptions{.placement = eddy::Placement::store_all, .length = 3}}) {
        const auto loop = eddy::while_loop(thrice, Power{}, options);
        auto smooth = loop.linearize(1.5, Kink::smooth, label);
        CHECK(std::get<0>(smooth.pullback(1.0)) == Approx(8 * std::pow(1.5, 7)));
        CHECK(std::get<0>(loop.linearize(-1.5, Kink::sharp, label).pullback(1.0)) == -1.0);
    }
    // Of a traced function they are what it captures, or what it is a template over.
    const auto traced = [](Kink kink, const std::string& name) {
        return eddy::trace_graph(
            [&](const auto& x) {
                return checkpoint_name(kink == Kink::smooth ? x * x : abs(x), name);
            },
            eddy::Scalar{});
    };
    CHECK(traced(Kink::sharp, label).names[0] == label);
    CHECK(traced(Kink::sharp, label).nodes[1].op == eddy::Op::abs);
    CHECK(traced(Kink::smooth, label).nodes[1].op == eddy::Op::mul);
}

TEST_CASE("state_hash: of a struct that lists its members") {
    const eddy::StateHash<Listed> hash;
    CHECK(hash({1.0, "a"}, 0) == hash({1.0, "b"}, 0));
    CHECK(hash({1.0, "a"}, 0) != hash({2.0, "a"}, 0));
}
