// What is kept for the way back goes through hooks: in fewer digits, counted, elsewhere, or not at all
// because a hook throws.

#include <eddy/ad/hooks.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/checkpoint/while_loop.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

using eddy::bfloat16;
using eddy::float16;
using eddy::Vec;
using eddy::Vector;

namespace {

struct Layer {
    constexpr auto operator()(const auto& x, const auto& w) const {
        return sin(checkpoint_name(dense(w, eddy::vec(0.1, -0.2), x), "product")) * x;
    }
};
constexpr auto layer = eddy::trace<Vector<2>, Vector<4>>(Layer{});

using State = Vec<double, 2>;
using Weights = Vec<double, 4>;

std::vector<Weights> weights_of(int count) {
    std::vector<Weights> weights;
    for (int k = 0; k < count; ++k) weights.push_back({1.1 + 0.01 * k, 0.3, -0.7, 0.9});
    return weights;
}
const State x{0.8, -1.3}, cotangent{1.3, 0.7};
const auto weights = weights_of(16);

/// The gradient with respect to x and the weights, as one list.
template <class Pulled>
std::vector<double> listed(const Pulled& pulled) {
    std::vector<double> numbers(std::get<0>(pulled).begin(), std::get<0>(pulled).end());
    for (const auto& w : std::get<1>(pulled)) numbers.insert(numbers.end(), w.begin(), w.end());
    return numbers;
}
template <class Net>
std::vector<double> gradient(const Net& net) {
    auto linearization = net.linearize(x, weights);
    return listed(linearization.pullback(cotangent));
}
/// The largest difference, against the largest component.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0, size = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        largest = std::max(largest, std::abs(a[k] - b[k]));
        size = std::max(size, std::abs(b[k]));
    }
    return largest / size;
}

/// A function that is no program, which counts.
struct Square {
    std::shared_ptr<int> evaluations = std::make_shared<int>(0);
    struct Linearization {
        double value, slope;
        double pullback(double c) const { return slope * c; }
    };
    double operator()(double y) const { return ++*evaluations, y * y; }
    Linearization linearize(double y) const { return {(*this)(y), 2 * y}; }
};

/// Counts what is packed, and may refuse.
struct Counted {
    std::shared_ptr<int> packed = std::make_shared<int>(0), unpacked = std::make_shared<int>(0);
    int most = 1000;
    auto operator()() const {
        return eddy::hooks(
            [=, *this](const auto& value) {
                if (*packed == most) throw std::runtime_error("no room");
                ++*packed;
                return std::pair(value, *packed);
            },
            [=, *this](const auto& kept) {
                ++*unpacked;
                return kept.first;
            });
    }
};

template <class Number>
bool rounds_to_nearest() {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto low = static_cast<std::uint16_t>(bits),
                   high = static_cast<std::uint16_t>(bits + 1);
        const auto value = static_cast<double>(Number::from_bits(low)),
                   next = static_cast<double>(Number::from_bits(high));
        if (std::isnan(value)) {
            if (!std::isnan(static_cast<double>(Number(value)))) return false;
            continue;
        }
        if (Number(value).bits() != low) return false;
        if (low % 32768 == 32767 || !std::isfinite(value) || !std::isfinite(next)) continue;
        const double middle = (value + next) / 2;
        if (Number(middle).bits() != (low % 2 == 0 ? low : high)) return false;
        if (Number(std::nextafter(middle, value)).bits() != low) return false;
        if (Number(std::nextafter(middle, next)).bits() != high) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("row 90: numbers of two bytes are rounded to the nearest, ties to even") {
    CHECK(rounds_to_nearest<float16>());
    CHECK(rounds_to_nearest<bfloat16>());
    CHECK(static_cast<double>(float16(65519.0)) == 65504);
    CHECK(std::isinf(static_cast<float>(float16(65520.0f))));
    for (const double y : {1e-3, 1.0, -3.7, 1e30})
        CHECK(static_cast<float>(bfloat16(y)) ==
              std::bit_cast<float>(std::uint32_t{bfloat16(y).bits()} << 16));
}

TEST_CASE("row 90: what is kept goes through a function and comes back through another") {
    const auto plain = eddy::differentiable(layer).linearize(x, weights[0]);
    const Counted counted;
    const auto through = eddy::remat(layer, counted()).linearize(x, weights[0]);
    CHECK(*counted.packed == 2);  // residuals, and x, which the pullback reads
    CHECK(*counted.unpacked == 0);

    CHECK(through.value == plain.value);
    CHECK(through.pullback(cotangent) == plain.pullback(cotangent));
    CHECK(*counted.unpacked == 2);

    // Under a policy, and with respect to one argument.
    const auto few = eddy::hooks([](const auto& value) { return value; },
                                 [](const auto& value) { return value; },
                                 eddy::save_only_these_names<"product">);
    CHECK(eddy::remat(layer, few).linearize(x, weights[0]).kept.residuals.size() == 2);
    CHECK(eddy::remat(eddy::differentiable<1>(layer), counted())
              .linearize(x, weights[0])
              .pullback(cotangent) == std::get<1>(plain.pullback(cotangent)));
}

TEST_CASE("row 90: digits that packing loses are lost by the gradient, wherever checkpoints are") {
    const auto exact = gradient(eddy::scan(layer));
    const auto error = [&](auto hooks) {
        const auto body = eddy::remat(layer, hooks);
        const auto kept = gradient(eddy::scan(body));
        // Each value passes once, with checkpoints too.
        CHECK(gradient(eddy::scan(body, {.checkpoints = 3})) == kept);
        CHECK(gradient(eddy::scan(body, {.checkpoints = 4, .keep = eddy::Keep::residuals})) ==
              kept);
        return difference(kept, exact);
    };

    // The unit roundoff of the format, times the layers and what they amplify.
    const auto is_about = [](double found, double roundoff) {
        return found > roundoff / 8 && found < 64 * roundoff;
    };
    CHECK(error(eddy::save_as<double>) == 0);
    CHECK(is_about(error(eddy::save_as<float>), std::ldexp(1.0, -24)));
    CHECK(is_about(error(eddy::save_as<float16>), std::ldexp(1.0, -11)));
    CHECK(is_about(error(eddy::save_as<bfloat16>), std::ldexp(1.0, -8)));
    CHECK(is_about(error(eddy::save_as<float>(eddy::dots_saveable)), std::ldexp(1.0, -24)));
    CHECK(gradient(eddy::scan<eddy::save_as<float>>(layer)) ==
          gradient(eddy::scan(eddy::remat(layer, eddy::save_as<float>))));
}

TEST_CASE("row 90: bytes that are kept are those of the packed values, in plans too") {
    auto whole = eddy::scan(layer).linearize(x, weights);
    auto half = eddy::scan<eddy::save_as<float>>(layer).linearize(x, weights);
    auto quarter = eddy::scan<eddy::save_as<float16>>(layer).linearize(x, weights);
    const auto less = whole.counters().peak_bytes - half.counters().peak_bytes;
    CHECK(whole.counters().peak_bytes == 2 * half.counters().peak_bytes);
    CHECK(whole.counters().peak_bytes == 4 * quarter.counters().peak_bytes);

    const eddy::LoopOptions few{.memory_bytes = less, .keep = eddy::Keep::residuals};
    auto planned = eddy::scan(eddy::remat(layer, eddy::save_as<float>), few).linearize(x, weights);
    CHECK(planned.counters().peak_bytes <= less);
    CHECK(listed(planned.pullback(cotangent)) == listed(half.pullback(cotangent)));
}

TEST_CASE(
    "row 90: hooks of loops, sequences, compositions, and of functions that are no programs") {
    const auto three = [](const auto&, std::int64_t k) { return k < 3; };
    const auto all = eddy::LoopOptions{.max_steps = 3, .placement = eddy::Placement::store_all};
    const auto lossy = eddy::remat(layer, eddy::save_as<float>);
    const auto by = [&](const auto& net) {
        auto linearization = net.linearize(x, weights[0]);
        const auto [of_x, of_w] = linearization.pullback(cotangent);
        return std::vector{of_x[0], of_x[1], of_w[0], of_w[1], of_w[2], of_w[3]};
    };
    const auto exact = by(eddy::while_loop(three, layer, all));
    const auto looped = by(eddy::while_loop(three, lossy, all));
    CHECK(by(eddy::while_loop(three, lossy, {.checkpoints = 2})) == looped);
    CHECK(difference(looped, exact) > 1e-9);
    CHECK(difference(looped, exact) < 1e-6);

    constexpr auto sine = eddy::trace<Vector<2>>([](const auto& y) { return sin(exp(y)); });
    const auto lossy_sine = eddy::remat(sine, eddy::save_as<float>);
    auto in_sequence = eddy::sequence(lossy_sine, lossy_sine).linearize(x);
    auto composed = eddy::compose(lossy_sine, lossy_sine).linearize(x);
    const State of_sequence = in_sequence.pullback(cotangent);
    CHECK(of_sequence == composed.pullback(cotangent));
    CHECK(of_sequence != eddy::compose(sine, sine).linearize(x).pullback(cotangent));

    // Only the input is kept, as a float; the function is evaluated again from that.
    const Square square;
    auto kept = eddy::remat(square, eddy::save_as<float>).linearize(0.3);
    CHECK(*square.evaluations == 1);
    CHECK(kept.pullback(1.0) == 2 * static_cast<double>(0.3f));
    CHECK(*square.evaluations == 2);
    const auto power = eddy::while_loop(three, eddy::remat(square, eddy::save_as<float>), all);
    CHECK(power.linearize(0.3).pullback(1.0) ==
          2 * static_cast<double>(0.3f) * 2 * static_cast<double>(static_cast<float>(0.3 * 0.3)) *
              2 * static_cast<double>(static_cast<float>(0.3 * 0.3 * (0.3 * 0.3))));
}

TEST_CASE("row 90: structs, ranges and tuples are packed by their parts") {
    struct Both {
        std::vector<double> list;
        std::tuple<double, int> parts;
    };
    const auto& hooks = eddy::save_as<float>;
    const Both both{{0.1, 0.2}, {0.3, 7}};
    const auto back = hooks.get<Both>(hooks.put(both));
    CHECK(back.list == std::vector<double>{0.1f, 0.2f});
    CHECK(back.parts == std::tuple<double, int>{0.3f, 7});
}

TEST_CASE("row 90: a pack that throws loses nothing else") {
    const auto expected = gradient(eddy::scan(layer));
    const Counted counted{.most = 40};
    const auto net = eddy::scan(eddy::remat(layer, counted()));

    auto before = net.linearize(x, weights);  // packs 32
    CHECK(*counted.packed == 32);
    CHECK_THROWS_AS(net.linearize(x, weights), std::runtime_error);
    CHECK(*counted.packed == 40);
    CHECK(listed(before.pullback(cotangent)) == expected);
    *counted.packed = 0;
    CHECK(gradient(net) == expected);
}
