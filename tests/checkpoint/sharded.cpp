// Several processes, as threads: what each computes is added up, or each holds a part of the weights.

#include <eddy/ad/linearize.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/trace/trace.hpp>

#include <array>
#include <barrier>
#include <cstdint>
#include <thread>
#include <tuple>

#include "support/catch.hpp"

namespace {

using State = eddy::Vec<double, 2>;
using Weights = eddy::Vec<double, 4>;
using Shard = eddy::Vec<double, 2>;
constexpr int num_ranks = 2;

constexpr auto layer = eddy::trace<eddy::Vector<2>, eddy::Vector<4>>(
    [](const auto& x, const auto& w) { return tanh(dense(w, eddy::vec(0.1, -0.2), x)); });
const std::array<State, num_ranks> inputs{State{0.3, -0.8}, State{1.1, 0.4}},
    cotangents{State{1.0, 0.5}, State{-0.7, 2.0}};
const Weights weights{0.9, -0.4, 0.3, 1.2};
const auto ten_steps = [](const State&, std::int64_t step) { return step < 10; };

/// What ranks do together: each call is made by all.
class Ranks {
  public:
    template <class Each>
    void run(const Each& each) {
        std::array<std::jthread, num_ranks> threads;
        for (int rank = 0; rank < num_ranks; ++rank)
            threads[static_cast<std::size_t>(rank)] = std::jthread([&each, rank] { each(rank); });
    }
    Weights all_gather(int rank, const Shard& shard) {
        for (int k = 0; k < 2; ++k) board_[0][2 * rank + k] = shard[k];
        return read([&] { return board_[0]; });
    }
    Weights all_reduce(int rank, const Weights& part) {
        board_[static_cast<std::size_t>(rank)] = part;
        return read([&] { return board_[0] + board_[1]; });
    }
    Shard reduce_scatter(int rank, const Weights& part) {
        const Weights sum = all_reduce(rank, part);
        return {sum[2 * rank], sum[2 * rank + 1]};
    }

  private:
    template <class Read>
    Weights read(const Read& read) {
        everyone_.arrive_and_wait();
        const Weights result = read();
        everyone_.arrive_and_wait();
        return result;
    }
    std::array<Weights, num_ranks> board_;
    std::barrier<> everyone_{num_ranks};
};

/// The layer, whose weights are gathered from all ranks wherever it is evaluated.
struct ShardedLayer {
    Ranks* ranks;
    int rank;
    int* gathers;

    template <class OfLayer>
    struct Linearization {
        State value;
        OfLayer kept;
        Ranks* ranks;
        int rank;
        [[nodiscard]] std::tuple<State, Shard> pullback(const State& c) const {
            const auto [of_x, of_weights] = kept.pullback(c);
            return {of_x, ranks->reduce_scatter(rank, of_weights)};
        }
    };
    State operator()(const State& x, const Shard& shard) const { return layer(x, gathered(shard)); }
    [[nodiscard]] auto linearize(const State& x, const Shard& shard) const {
        auto kept = eddy::differentiable(layer).linearize(x, gathered(shard));
        return Linearization<decltype(kept)>{kept.value, kept, ranks, rank};
    }

  private:
    [[nodiscard]] Weights gathered(const Shard& shard) const {
        ++*gathers;
        return ranks->all_gather(rank, shard);
    }
};

/// The gradient by the weights of all inputs, on one rank.
Weights expected() {
    Weights sum{};
    for (std::size_t k = 0; k < num_ranks; ++k) {
        auto loop = eddy::while_loop(ten_steps, layer).linearize(inputs[k], weights);
        sum = sum + std::get<1>(loop.pullback(cotangents[k]));
    }
    return sum;
}

}  // namespace

TEST_CASE("row 103: each rank takes its inputs back, and gradients are added up") {
    Ranks ranks;
    std::array<Weights, num_ranks> gradients;
    ranks.run([&](int rank) {
        const auto k = static_cast<std::size_t>(rank);
        const auto loop = eddy::while_loop(ten_steps, layer, {.checkpoints = 3 + rank});
        auto kept = eddy::remat(loop).linearize(inputs[k], weights);
        gradients[k] = ranks.all_reduce(rank, std::get<1>(kept.pullback(cotangents[k])));
    });
    CHECK(gradients[0] == expected());
    CHECK(gradients[1] == expected());
}

TEST_CASE("row 103: weights in parts are gathered for each step, and again on the way back") {
    Ranks ranks;
    std::array<Shard, num_ranks> gradients;
    std::array<int, num_ranks> gathers{};
    ranks.run([&](int rank) {
        const auto k = static_cast<std::size_t>(rank);
        const auto loop =
            eddy::while_loop(ten_steps, eddy::remat(ShardedLayer{&ranks, rank, &gathers[k]}),
                             {.max_steps = 10, .placement = eddy::Placement::store_all});
        auto kept = loop.linearize(inputs[k], Shard{weights[2 * rank], weights[2 * rank + 1]});
        gradients[k] = std::get<1>(kept.pullback(cotangents[k]));
    });
    const Weights wanted = expected();
    for (int i = 0; i < 4; ++i)
        CHECK(gradients[static_cast<std::size_t>(i / 2)][i % 2] ==
              Approx(wanted[i]).epsilon(1e-14));
    CHECK(gathers == std::array{20, 20});
}
