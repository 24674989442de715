// Training: optimisers against their formulas, batches that are a function of the step, and trainings that
// are taken up again.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/interop/train/checkpoint_file.hpp>
#include <eddy/interop/train/lbfgs.hpp>
#include <eddy/interop/train/minibatches.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

namespace train = eddy::train;
using Numbers = std::vector<double>;

/// The root of a file of this test.
std::filesystem::path file_named(const char* name) {
    return std::filesystem::temp_directory_path() / name;
}

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
struct Explodes {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const { return p[0] * y * y; }
};
constexpr auto network = eddy::nn::mlp<2, 16, 2>(eddy::nn::tanh);

/// A training of a small network on turned points.
struct SmallTraining {
    std::vector<float> p = eddy::nn::glorot_uniform<float>(network, 1);
    train::Optimizer<train::Adam, float> adam{{.learning_rate = 0.02, .weight_decay = 1e-3},
                                              p.size()};
    train::Minibatches batches{100, 16, 9};
    eddy::EnsembleArray<float> y0{16, 2}, data{16, 2};
    float first_loss = 0, last_loss = 0;

    /// Up to step number `end`.
    void run(std::int64_t end) {
        auto solver = eddy::gradient_solver(network, eddy::Tsit5{}, SquaredError{},
                                            {.t1 = 1, .rtol = 1e-4}, eddy::Tiles{});
        const train::CosineSchedule schedule{.total = 60, .warmup = 5, .last = 0.1};
        while (adam.num_steps() < end) {
            const auto samples = batches(adam.num_steps());
            for (std::ptrdiff_t lane = 0; lane < 16; ++lane) {
                const auto angle = static_cast<float>(samples[static_cast<std::size_t>(lane)]);
                y0(lane, 0) = std::cos(angle);
                y0(lane, 1) = std::sin(angle);
                data(lane, 0) = std::cos(angle + 1);
                data(lane, 1) = std::sin(angle + 1);
            }
            auto& result = solver(data, y0, eddy::shared(p));
            last_loss = static_cast<float>(result.loss.total);
            if (adam.num_steps() == 0) first_loss = last_loss;
            const std::span<float> gradient(result.gradient.p.data(), p.size());
            train::clip_by_norm(gradient, 10);
            adam.step(p, gradient, schedule(adam.num_steps()));
        }
    }
};

}  // namespace

TEST_CASE("train: the first step of Adam is the learning rate, against the sign of the gradient") {
    train::Optimizer<train::Adam, double> adam({.learning_rate = 0.1}, 3);
    Numbers p{1, 1, 1};

    adam.step(p, Numbers{2, -0.5, 0});

    CHECK(std::abs(p[0] - 0.9) < 1e-8);
    CHECK(std::abs(p[1] - 1.1) < 1e-8);
    CHECK(p[2] == 1);
}

TEST_CASE("train: Adam follows its recurrences, weight decay apart from the gradient") {
    const train::Adam rule{.learning_rate = 0.1, .weight_decay = 0.5};
    train::Optimizer<train::Adam, double> adam(rule, 1);
    Numbers p{2};
    double expected = 2, m = 0, v = 0;
    for (int step = 1; step <= 4; ++step) {
        const double g = std::sin(step);
        adam.step(p, Numbers{g}, 0.5);
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        const double change =
            m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
        expected -= 0.05 * (change + 0.5 * expected);
    }

    CHECK(std::abs(p[0] - expected) < 1e-14);
}

TEST_CASE("train: momentum adds up a constant gradient") {
    train::Optimizer<train::Sgd, double> sgd({.learning_rate = 1, .momentum = 0.5}, 1);
    Numbers p{0};
    for (int step = 0; step < 3; ++step) sgd.step(p, Numbers{1});

    CHECK(p[0] == -(1 + 1.5 + 1.75));
}

TEST_CASE("train: a rule is valid in the type of the parameters") {
    const auto message = [](const auto& rule) {
        using Rule = std::remove_cvref_t<decltype(rule)>;
        CHECK_NOTHROW(train::Optimizer<Rule, double>(rule, 1));
        return support::message_of([&] { train::Optimizer<Rule, float>(rule, 1); });
    };
    for (const train::Adam& rule :
         {train::Adam{.learning_rate = 1e300}, train::Adam{.learning_rate = 1e-60},
          train::Adam{.beta1 = 1 - 1e-12}, train::Adam{.beta2 = 1 - 1e-12},
          train::Adam{.epsilon = 1e-60}, train::Adam{.weight_decay = 1e300}})
        CHECK(support::mentions(message(rule), "is none; learning_rate and epsilon must"));
    for (const train::Sgd& rule :
         {train::Sgd{.learning_rate = 1e300}, train::Sgd{.momentum = 1 - 1e-12}})
        CHECK(support::mentions(message(rule), "in the type of the parameters"));
}

TEST_CASE("train: a gradient that is not finite is refused, and nothing has changed") {
    const auto check = [](const auto& rule, float bad) {
        train::Optimizer<std::remove_cvref_t<decltype(rule)>, float> optimizer(rule, 3);
        std::vector<float> p{1, 2, 3};
        optimizer.step(p, std::vector<float>{0.1f, 0.2f, 0.3f});
        const std::vector<float> before = p;
        const train::Moments<float> moments = optimizer.moments()[2];

        const std::string message = support::message_of([&] {
            optimizer.step(p, std::vector<float>{1, 2, bad});
        });

        CHECK(support::mentions(message, "train::Optimizer::step: gradient[2] = "));
        CHECK(support::mentions(message, "leave such a step out"));
        CHECK(p == before);
        CHECK(optimizer.num_steps() == 1);
        CHECK(optimizer.moments()[2].first == moments.first);
    };

    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity(), 1e25f}) {
        check(train::Adam{}, bad);
        check(train::Adam{.weight_decay = 0.1}, bad);
        check(train::Sgd{}, bad);
    }
}

TEST_CASE("train: where every sample fails the loss is no number, and minimize says so") {
    auto solver =
        eddy::gradient_solver(Explodes{}, eddy::Tsit5{}, SquaredError{}, {.t1 = 2}, eddy::Serial{});
    const eddy::EnsembleArray<double> y0(3, 2, 1.), data(3, 2, 0.);
    const auto loss = [&](std::span<const double> p, std::span<double> gradient) {
        const auto& result = solver(data, y0, eddy::shared(p));
        gradient[0] = result.gradient.p(0, 0);
        return result.loss.total;
    };
    Numbers p{1}, gradient(1);

    CHECK(std::isnan(loss(p, gradient)));
    CHECK(gradient[0] == 0);
    CHECK(support::mentions(
        support::message_of([&] { train::minimize({}, std::span(p), loss); }),
        "train::minimize: the first loss is nan and the largest component of its gradient 0"));
    p[0] = -1;
    CHECK(loss(p, gradient) == Approx(3 * 2 / 9.));
}

TEST_CASE("train: clipping keeps direction, small gradients and what is not finite") {
    Numbers large{3, 4}, small{0.3, 0.4}, broken{std::numeric_limits<double>::infinity(), 1};

    CHECK(train::clip_by_norm(std::span(large), 1) == 5);
    CHECK(std::abs(large[0] - 0.6) < 1e-15);
    CHECK(std::abs(train::clip_by_norm(std::span(small), 1) - 0.5) < 1e-15);
    CHECK(small == Numbers{0.3, 0.4});
    CHECK(std::isinf(train::clip_by_norm(std::span(broken), 1)));
    Numbers exploding{3e200, 4e200};  // its squares are infinite
    CHECK(std::abs(train::clip_by_norm(std::span(exploding), 1) / 5e200 - 1) < 1e-15);
    CHECK(std::abs(exploding[0] - 0.6) + std::abs(exploding[1] - 0.8) < 1e-15);
    CHECK(broken[1] == 1);
    CHECK_THROWS_AS(train::clip_by_norm(std::span(small), 0), eddy::InvalidArgument);
    Numbers plain{3, 4};
    CHECK(train::clip_by_norm(plain, 1) == 5);
    CHECK(std::abs(plain[1] - 0.8) < 1e-15);
}

TEST_CASE("train: a schedule rises, falls as a cosine, and stays at its last value") {
    const train::CosineSchedule schedule{.total = 110, .warmup = 10, .last = 0.2};

    CHECK(schedule(0) == 0.1);
    CHECK(schedule(10) == 1);
    CHECK(std::abs(schedule(60) - 0.6) < 1e-15);
    CHECK(schedule(110) == 0.2);
    CHECK(schedule(1'000'000) == 0.2);
    CHECK(train::CosineSchedule{.total = 0}(0) == 0);
    const train::CosineSchedule endless{.last = std::numeric_limits<double>::quiet_NaN()};
    CHECK_THROWS_AS(endless(3), eddy::InvalidArgument);
}

TEST_CASE(
    "train: steps before the first and rates that are no numbers are refused, and change nothing") {
    const train::CosineSchedule schedule{.total = 10};
    train::Minibatches batches(10, 3, 1);
    train::Optimizer<train::Adam, double> adam({}, 2);
    Numbers p{1, 2};
    const Numbers gradient{1, 1};

    CHECK_THROWS_AS(schedule(-1), eddy::InvalidArgument);
    CHECK_THROWS_AS(batches(-1), eddy::InvalidArgument);
    CHECK_THROWS_AS(adam.step(p, gradient, std::numeric_limits<double>::quiet_NaN()),
                    eddy::InvalidArgument);
    CHECK(p == Numbers{1, 2});
    CHECK(adam.num_steps() == 0);
}

TEST_CASE("train: an epoch has each sample once, and a batch depends on seed and step alone") {
    train::Minibatches one(100, 20, 5), other(100, 20, 5), of_seed(100, 20, 6);
    std::set<std::ptrdiff_t> seen;
    for (std::int64_t step = 0; step < one.per_epoch(); ++step)
        for (const std::ptrdiff_t sample : one(step)) seen.insert(sample);

    CHECK(seen.size() == 100);
    const auto late = other(12);
    const auto again = one(12);
    CHECK(std::equal(late.begin(), late.end(), again.begin(), again.end()));
    const auto differs = of_seed(12);
    CHECK_FALSE(std::equal(late.begin(), late.end(), differs.begin(), differs.end()));
    CHECK_THROWS_AS(train::Minibatches(10, 11, 0), eddy::InvalidArgument);
    CHECK_THROWS_AS(train::Minibatches(-1, 1, 0), eddy::InvalidArgument);
    constexpr auto most = std::numeric_limits<std::ptrdiff_t>::max();
    CHECK(support::message_of([] {
              train::Minibatches(most, 1, 0);
          }).starts_with("train::Minibatches: 9223372036854775807 samples, whose order no memory"));
    train::Minibatches from(10, 3, 1);
    train::Minibatches to = std::move(from);
    CHECK(to(0).size() == 3);
    CHECK(support::mentions(support::message_of([&] { (void)from(0); }), "these were moved from"));
    CHECK_THROWS_AS(one(-1), eddy::InvalidArgument);
}

// Of all orders alike, each sample stays in its place in one epoch of ten. Over 1,000 epochs the number that stay
// has the mean 1,000 and the variance 1,000: five standard deviations are 158. For each sample it has the mean 100
// and the variance 90: five are 47.4.
TEST_CASE("train: a shuffle leaves as many samples in their places as chance does") {
    constexpr int num_samples = 10, num_epochs = 1000;
    train::Minibatches batches(num_samples, num_samples, 3);
    int stay[num_samples] = {}, all = 0;

    for (int epoch = 0; epoch < num_epochs; ++epoch) {
        const auto order = batches(epoch);
        for (std::size_t i = 0; i < num_samples; ++i)
            stay[i] += order[i] == static_cast<std::ptrdiff_t>(i);
    }

    for (const int count : stay) {
        CHECK(std::abs(count - 100) < 48);
        all += count;
    }
    CHECK(std::abs(all - 1000) < 160);
}

TEST_CASE("train: a training that is taken up from its file goes on bit for bit, and learns") {
    const auto path = file_named("eddy_test_train");
    SmallTraining whole, begun, resumed;
    whole.run(60);
    begun.run(23);
    train::save_checkpoint(path, begun.p, begun.adam);

    train::load_checkpoint(path, resumed.p, resumed.adam);
    resumed.run(60);

    CHECK(resumed.p == whole.p);
    CHECK(whole.last_loss < 0.1f * whole.first_loss);
    std::filesystem::remove(path);
}

TEST_CASE("train: early stopping is taken up with its training, or refused") {
    const auto path = file_named("eddy_test_train_stopping");
    const double losses[] = {5, 3, 4, 3.5, 6, 3.2};  // of checks: the second is the best
    train::Optimizer<train::Adam, double> adam({}, 2), again({}, 2);
    Numbers p{1, 2}, q{0, 0};
    train::EarlyStopping<double> begun({.patience = 4}), resumed({.patience = 4});
    for (int check = 0; check < 3; ++check) {
        CHECK(begun(losses[check], p));
        p[0] += 1;
    }
    train::save_checkpoint(path, p, adam, begun);

    train::load_checkpoint(path, q, again, resumed);

    CHECK(q == p);
    for (int check = 3; check < 6; ++check)
        CHECK(resumed(losses[check], q) == begun(losses[check], p));
    CHECK(resumed.best_loss() == 3);
    CHECK(resumed.best_check() == 2);
    resumed.restore(q);
    CHECK(q == Numbers{2, 2});
    const std::string without =
        support::message_of([&] { train::load_checkpoint(path, q, again); });
    CHECK(support::mentions(without, "with early stopping and is read without"));
    // One that has seen no loss that is finite has no weights.
    train::EarlyStopping<double> blank;
    CHECK(blank(std::nan(""), p));
    train::save_checkpoint(path, p, adam, blank);
    train::load_checkpoint(path, q, again, resumed);
    CHECK(resumed.best_check() == 0);
    CHECK_THROWS_AS(resumed.restore(q), eddy::InvalidArgument);
    train::save_checkpoint(path, p, adam);
    const std::string plain =
        support::message_of([&] { train::load_checkpoint(path, q, again, resumed); });
    CHECK(support::mentions(plain, "or the other way round"));
    std::filesystem::remove(path);
}

TEST_CASE("train: a file of another size, or of something else, says so and changes nothing") {
    const auto path = file_named("eddy_test_train_other");
    train::Optimizer<train::Sgd, double> three({}, 3), two({}, 2);
    const Numbers p{1, 2, 3};
    train::save_checkpoint(path, p, three);
    Numbers q{7, 8};

    const std::string of_size = support::message_of([&] { train::load_checkpoint(path, q, two); });
    std::filesystem::resize_file(path, 70);
    Numbers r{7, 8, 9};
    const std::string cut = support::message_of([&] { train::load_checkpoint(path, r, three); });
    std::filesystem::resize_file(path, 3);
    const std::string foreign = support::message_of([&] { train::load_checkpoint(path, q, two); });

    CHECK(of_size.find("has 3 parameters of 8 bytes; this training has 2 of 8") != of_size.npos);
    CHECK(cut.find("has 70 bytes of ") != cut.npos);
    CHECK(foreign.find("is no checkpoint of a training") != foreign.npos);
    CHECK(q == Numbers{7, 8});
    CHECK(r == Numbers{7, 8, 9});
    std::filesystem::remove(path);
}

TEST_CASE("train: a file of a machine of the other byte order is refused, and changes nothing") {
    const auto path = file_named("eddy_test_train_order");
    train::Optimizer<train::Sgd, double> sgd({}, 3);
    Numbers p{1, 2, 3};
    train::save_checkpoint(path, p, sgd);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    // The byte order behind the magic word and the bytes of a number: 0x01020304 as this machine has it.
    std::uint32_t order = 0;
    file.seekg(12).read(reinterpret_cast<char*>(&order), sizeof(order));
    REQUIRE(order == 0x01020304);
    order = 0x04030201;
    file.seekp(12).write(reinterpret_cast<const char*>(&order), sizeof(order));
    file.close();
    p = {7, 8, 9};

    const std::string message = support::message_of([&] { train::load_checkpoint(path, p, sgd); });

    CHECK(support::mentions(message, "is no checkpoint of a training on a machine like this"));
    CHECK(p == Numbers{7, 8, 9});
    std::filesystem::remove(path);
}

TEST_CASE("train: a file of another rule names both, and changes nothing") {
    const auto path = file_named("eddy_test_train_rule");
    train::Optimizer<train::Adam, double> adam({.learning_rate = 0.1}, 3);
    Numbers p{1, 2, 3};
    adam.step(p, Numbers{1, -1, 2});
    train::save_checkpoint(path, p, adam);
    train::Optimizer<train::Sgd, double> sgd({.momentum = 0.9}, 3);
    Numbers q{7, 8, 9};

    const std::string message = support::message_of([&] { train::load_checkpoint(path, q, sgd); });

    CHECK(support::mentions(message, "is of a training by Adam, this one is by Sgd"));
    CHECK(q == Numbers{7, 8, 9});
    CHECK(sgd.num_steps() == 0);
    CHECK(sgd.moments()[0].first == 0);
    std::filesystem::remove(path);
}

TEST_CASE("train: weights of another size than the optimizer's are neither saved nor loaded") {
    const auto path = file_named("eddy_test_train_sizes");
    train::Optimizer<train::Sgd, double> sgd({}, 3);
    Numbers two{1, 2};

    const std::string saved = support::message_of([&] { train::save_checkpoint(path, two, sgd); });
    const std::string loaded = support::message_of([&] { train::load_checkpoint(path, two, sgd); });

    CHECK(support::mentions(saved, "save_checkpoint: 2 parameters; the optimizer was made for 3"));
    CHECK(support::mentions(loaded, "load_checkpoint: 2 parameters; the optimizer was made for 3"));
    CHECK_FALSE(std::filesystem::exists(path));
}
