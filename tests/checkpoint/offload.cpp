// What a policy marks for offload goes into the stores that loops have, and comes back one step ahead.

#include <eddy/checkpoint/offload.hpp>

#include <eddy/ad/residuals.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using eddy::Names;
using eddy::Vec;
using eddy::Vector;

namespace {

/// y is kept, z offloaded, w computed again.
struct Layer {
    constexpr auto operator()(const auto& x, const auto& weights) const {
        const auto y = checkpoint_name(sin(dense(weights, eddy::vec(0.1, -0.2), x)), "y");
        const auto z = checkpoint_name(exp(sin(y)), "z");
        const auto w = checkpoint_name(cos(z * y), "w");
        return sin(w) * w;
    }
};
constexpr auto layer = eddy::trace<Vector<2>, Vector<4>>(Layer{});
constexpr auto& y_here_z_away = eddy::save_and_offload_only_these_names<Names<"y">, Names<"z">>;

using State = Vec<double, 2>;
const State x{0.8, -1.3}, cotangent{1.3, 0.7};
const std::vector<Vec<double, 4>> weights(12, Vec<double, 4>{1.1, 0.3, -0.7, 0.9});

template <class Hooks>
auto scan_with(Hooks hooks, eddy::LoopOptions options = {.placement = eddy::Placement::store_all}) {
    return eddy::scan(eddy::remat(layer, std::move(hooks)), std::move(options));
}
template <class Net>
auto gradient(const Net& net) {
    auto linearization = net.linearize(x, weights);
    return linearization.pullback(cotangent);
}
const auto& expected() {
    static const auto gradient_of_all = gradient(eddy::scan(layer));
    return gradient_of_all;
}

/// A place that notes what its stores are asked for.
struct Noted {
    std::shared_ptr<std::string> calls = std::make_shared<std::string>();

    template <class T>
    struct Store : eddy::MemoryStore<T> {
        std::shared_ptr<std::string> calls;
        std::int64_t hinted = -1;
        void will_read(std::int64_t, std::int64_t step) {
            if (step != hinted) *calls += "h" + std::to_string(step) + " ";
            hinted = step;
        }
        const T& read(std::int64_t slot, std::int64_t step) const {
            *calls += "r" + std::to_string(step) + " ";
            return eddy::MemoryStore<T>::read(slot, step);
        }
    };
    template <class T>
    [[nodiscard]] Store<T> store() const {
        return {{}, calls};
    }
};

/// An array that is a stand-in for one on a device, and a memory that copies when it is waited for.
struct DeviceArray {
    std::shared_ptr<std::vector<double>> numbers;
    explicit DeviceArray(std::vector<double> given)
        : numbers(std::make_shared<std::vector<double>>(std::move(given))) {}
    DeviceArray(const DeviceArray& other) : DeviceArray(*other.numbers) {}
    DeviceArray& operator=(const DeviceArray& other) {
        *numbers = *other.numbers;
        return *this;
    }
    [[nodiscard]] double* data() { return numbers->data(); }
    [[nodiscard]] const double* data() const { return numbers->data(); }
    [[nodiscard]] std::size_t size() const { return numbers->size(); }
};
struct LateMemory : eddy::PageableMemory {
    struct Copy {
        void* state;
        const void* host;
        std::size_t size;
    };
    struct Counts {
        std::vector<Copy> under_way;
        int ahead = 0, at_once = 0;
    };
    std::shared_ptr<Counts> counts = std::make_shared<Counts>();

    void load(void* state, const void* host, std::size_t size) {
        ++counts->at_once;
        std::memcpy(state, host, size);
    }
    void load_ahead(void* state, const void* host, std::size_t size) {
        ++counts->ahead;
        std::memset(state, 0xff, size);  // not a number, until it is there
        counts->under_way.push_back({state, host, size});
    }
    void arrive() {
        for (const Copy& copy : counts->under_way) std::memcpy(copy.state, copy.host, copy.size);
        counts->under_way.clear();
    }
};
struct Squares {
    struct Linearization {
        DeviceArray value, input;
        [[nodiscard]] DeviceArray pullback(const DeviceArray& of_value) const {
            std::vector<double> numbers(*of_value.numbers);
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= 2 * input.data()[i];
            return DeviceArray(numbers);
        }
    };
    DeviceArray operator()(const DeviceArray& in) const {
        std::vector<double> numbers(*in.numbers);
        for (double& number : numbers) number *= number;
        return DeviceArray(numbers);
    }
    [[nodiscard]] Linearization linearize(const DeviceArray& in) const { return {(*this)(in), in}; }
};

/// Files may not grow beyond so many bytes while it lives.
class SmallDisk {
  public:
    explicit SmallDisk(::rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const struct ::rlimit small { .rlim_cur = bytes, .rlim_max = before_.rlim_max };
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    struct ::rlimit before_ {};
    void (*handler_)(int);
};

}  // namespace

TEST_CASE("row 54: of each step of a scan y is kept, z offloaded and w computed again") {
    const auto in_memory = eddy::remat(layer, y_here_z_away);  // a mark that nothing acts on
    const auto on_disk = scan_with(eddy::offload_to(eddy::OnDisk{}, y_here_z_away));

    auto marked = eddy::scan(in_memory).linearize(x, weights);
    auto offloaded = on_disk.linearize(x, weights);
    CHECK(marked.counters().peak_bytes == 12 * 3 * sizeof(State));     // y, z and the carry
    CHECK(offloaded.counters().peak_bytes == 12 * 2 * sizeof(State));  // y and the carry
    CHECK(offloaded.pullback(cotangent) == expected());
    CHECK(offloaded.counters().advances == 12);
    // Within segments, and with carries only.
    const eddy::LoopOptions segments{.checkpoints = 3, .keep = eddy::Keep::residuals};
    const auto hooks = eddy::offload_to(eddy::OnDisk{}, y_here_z_away);
    CHECK(gradient(scan_with(hooks, segments)) == expected());
    CHECK(gradient(scan_with(hooks, {.checkpoints = 3})) == expected());
}

TEST_CASE(
    "row 16: remat_scan keeps the input of each layer, on levels fewer, or what is asked for") {
    const auto bytes_and_gradient = [](const auto& net) {
        auto linearization = net.linearize(x, weights);
        auto pulled = linearization.pullback(cotangent);
        return std::tuple(linearization.counters().peak_bytes, std::move(pulled));
    };
    constexpr std::int64_t one = sizeof(State);
    using eddy::nn::remat_scan;
    CHECK(bytes_and_gradient(remat_scan(layer)) == std::tuple(12 * one, expected()));
    const auto [bytes, of_levels] = bytes_and_gradient(remat_scan(layer, {3, 4}));
    CHECK(bytes <= (3 + 4) * one);
    CHECK(of_levels == expected());
    CHECK(bytes_and_gradient(remat_scan(layer, eddy::save_only_these_names<"y">)) ==
          std::tuple(2 * 12 * one, expected()));
    CHECK(bytes_and_gradient(remat_scan(layer, eddy::offload_to(eddy::OnDisk{}, y_here_z_away))) ==
          std::tuple(2 * 12 * one, expected()));
}

TEST_CASE("row 46: what a policy marks goes to disk, to host memory, and to tiers") {
    CHECK(gradient(scan_with(eddy::offload_to(eddy::InHostMemory{}, y_here_z_away))) == expected());
    CHECK(gradient(scan_with(eddy::offload_to(
              eddy::InTiers{5, eddy::InHostMemory{}, eddy::OnDisk{}}, y_here_z_away))) ==
          expected());
    CHECK(gradient(scan_with(eddy::offload_to(eddy::OnDisk{}, eddy::offload<"z">()))) ==
          expected());

    // All that is kept, the carry too.
    auto all = scan_with(eddy::offload_to(eddy::OnDisk{})).linearize(x, weights);
    CHECK(all.counters().peak_bytes == 0);
    CHECK(all.pullback(cotangent) == expected());
    // One evaluation, twice.
    const auto once = eddy::remat(layer, eddy::offload_to(eddy::OnDisk{})).linearize(x, weights[0]);
    CHECK(once.pullback(cotangent) == once.pullback(cotangent));
    CHECK(once.pullback(cotangent) ==
          eddy::differentiable(layer).linearize(x, weights[0]).pullback(cotangent));
}

TEST_CASE("row 46: within a budget of bytes what is offloaded takes none") {
    constexpr std::int64_t one = sizeof(State);
    const auto hooks = eddy::offload_to(eddy::OnDisk{}, y_here_z_away);
    for (const std::int64_t bytes : {5 * one, 8 * one, 23 * one, 24 * one}) {
        auto some = scan_with(hooks, {.memory_bytes = bytes, .keep = eddy::Keep::residuals})
                        .linearize(x, weights);
        CHECK(some.pullback(cotangent) == expected());
        CHECK(some.counters().peak_bytes <= bytes);
        // Of each step y and the carry are in memory.
        const eddy::ScanCosts costs{12, one, 2 * one};
        CHECK(some.counters().advances ==
              eddy::plan_scan(costs, bytes < 24 * one ? bytes - one : bytes).evaluations);
    }
    auto all = scan_with(eddy::offload_to(eddy::OnDisk{}),
                         {.memory_bytes = 1, .keep = eddy::Keep::residuals})
                   .linearize(x, weights);
    CHECK(all.pullback(cotangent) == expected());
    CHECK(all.counters().advances == 12);
    CHECK(all.counters().peak_bytes == 0);
}

TEST_CASE("row 45: products with weights are offloaded, and only they") {
    auto net = scan_with(eddy::offload_to(eddy::OnDisk{}, eddy::offload_dot_with_no_batch_dims));
    auto linearization = net.linearize(x, weights);
    CHECK(linearization.counters().peak_bytes == 12 * sizeof(State));  // the carry
    CHECK(linearization.pullback(cotangent) == expected());
}

TEST_CASE("row 46: at run time names are marked by the names they have") {
    const eddy::Graph graph = eddy::trace_graph(
        [](const eddy::DynamicTraced& in) {
            return sin(checkpoint_name(exp(checkpoint_name(sin(in), "y")), "z"));
        },
        eddy::DynamicVector{3});
    const auto saved = [&](const auto& policy) { return eddy::saved_residuals(graph, policy); };
    CHECK(saved(eddy::offload("z")).find("'z', output of exp, to be offloaded") !=
          std::string::npos);
    CHECK(saved(eddy::offload("z")).find("'y'") == std::string::npos);
}

TEST_CASE("row 46: what is read next is fetched while its neighbour is pulled back") {
    const Noted noted;
    auto net = scan_with(eddy::offload_to(noted, y_here_z_away));
    auto linearization = net.linearize(x, weights);
    CHECK(noted.calls->empty());
    CHECK(linearization.pullback(cotangent) == expected());
    CHECK(*noted.calls ==
          "h10 r11 h9 r10 h8 r9 h7 r8 h6 r7 h5 r6 h4 r5 h3 r4 h2 r3 h1 r2 h0 r1 r0 ");
}

TEST_CASE("row 46: from a device to host memory, and back beside other work") {
    const LateMemory memory;
    const auto six = [](const DeviceArray&, std::int64_t k) { return k < 6; };
    const eddy::LoopOptions all{.max_steps = 6, .placement = eddy::Placement::store_all};
    const auto away =
        eddy::remat(Squares{}, eddy::offload_to(eddy::InHostMemory<LateMemory>{memory}));
    const DeviceArray start({0.9, 1.1, 1.01}), ones({1.0, 1.0, 1.0});

    const auto kept = eddy::while_loop(six, Squares{}, all).linearize(start).pullback(ones);
    const auto back = eddy::while_loop(six, away, all).linearize(start).pullback(ones);

    CHECK(*back.numbers == *kept.numbers);
    CHECK(memory.counts->ahead == 5);
    CHECK(memory.counts->at_once == 1);  // the last one, which nothing comes before
    CHECK(memory.counts->under_way.empty());
}

TEST_CASE("row 46: a disk that is full loses nothing else") {
    constexpr auto wide = eddy::trace<Vector<512>>([](const auto& in) { return sin(exp(in)); });
    using Long = Vec<double, 512>;
    const auto steps = [](std::int64_t length) {
        return eddy::LoopOptions{.placement = eddy::Placement::store_all, .length = length};
    };
    Long in{}, ones{};
    for (int k = 0; k < 512; ++k) in[k] = 0.001 * k, ones[k] = 1;
    const auto away = eddy::remat(wide, eddy::offload_to(eddy::OnDisk{}));
    const auto net = eddy::scan(away, steps(64));
    const Long of_all = eddy::scan(wide, steps(64)).linearize(in).pullback(ones);
    const Long of_few = eddy::scan(wide, steps(8)).linearize(in).pullback(ones);

    auto before = eddy::scan(away, steps(8)).linearize(in);  // fits, whenever it is written
    {
        const SmallDisk full(64 * 1024);  // 64 steps need four times as much
        const std::string message =
            support::message_of([&] { (void)net.linearize(in).pullback(ones); });
        INFO(message);
        CHECK(message.find("could not be written") != std::string::npos);
    }
    CHECK(before.pullback(ones) == of_few);
    CHECK(net.linearize(in).pullback(ones) == of_all);
}
