// What the loops and calls ask of a backend, its team, its memory and a kernel is what their concepts say: models that
// have nothing more solve and differentiate.

#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <memory>

#include "solve/problems.hpp"
#include "solve/warp_backend.hpp"
#include "support/catch.hpp"

namespace {

using eddy::LaneOutcome;
using eddy::detail::AnySpec;
using support::Array;

/// A thread that takes one lane after another.
class LeastTeam {
  public:
    static constexpr int num_chains = 1, num_members = 1, calls_between_polls = 1;
    static constexpr eddy::detail::Watches watches{};
    static constexpr bool takes_prescribed_steps = false, may_fetch_ahead = false;

    LeastTeam(std::ptrdiff_t first, std::int32_t count) : first_(first), count_(count) {}
    [[nodiscard]] static int member() { return 0; }
    [[nodiscard]] static bool any(bool flag) { return flag; }
    [[nodiscard]] static std::int64_t max(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t min(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t sum(std::int64_t x) { return x; }
    [[nodiscard]] static std::int64_t from_first(std::int64_t x) { return x; }
    static void sync() {}
    static void fetch_ahead(const void*) {}
    [[nodiscard]] static std::ptrdiff_t worker() { return 0; }
    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_; }
    [[nodiscard]] std::int32_t num_lanes() const { return count_; }
    [[nodiscard]] std::int32_t num_taken() const { return taken_; }
    [[nodiscard]] std::int32_t take_lane(bool wants) {
        return wants && taken_ < count_ ? taken_++ : eddy::detail::no_lane;
    }
    [[nodiscard]] static std::int32_t lane_at(std::int32_t k) { return k; }
    static void ended(const LaneOutcome&) {}
    [[nodiscard]] static bool attend() { return true; }
    [[nodiscard]] static bool is_cancelled() { return false; }
    [[nodiscard]] static std::int64_t patience(std::int64_t) { return 64; }

  private:
    std::ptrdiff_t first_;
    std::int32_t count_, taken_ = 0;
};
static_assert(eddy::detail::Team<LeastTeam>);

struct LeastBackend {
    struct backend_tag {};
    template <class Real>
    using Lanes = Real;
    template <class Spec>
    using Team = LeastTeam;
    using Memory = eddy::HostMemory;
    using Kept = std::vector<eddy::Placed>;

    [[nodiscard]] static Memory memory() { return {}; }
    [[nodiscard]] static std::ptrdiff_t num_workers(std::ptrdiff_t) { return 1; }
    [[nodiscard]] static support::TableStores stores(const eddy::detail::GradientPlan& plan,
                                                     std::ptrdiff_t, Kept& table) {
        table = support::placement_table(plan.checkpoints, 1000);
        return {plan.checkpoints, table.data(), static_cast<std::int64_t>(table.size())};
    }
    template <class Kernel>
    static void launch(const eddy::LaunchPlan& plan, const Kernel& kernel, eddy::detail::CallLink&,
                       Kept&) {
        support::NanMemory memory(eddy::detail::arena_bytes<LeastTeam>(kernel));
        for (std::ptrdiff_t group = 0; group < plan.num_groups(); ++group) {
            LeastTeam team(plan.first_lane(group), plan.lanes_of(group));
            kernel(team, memory.arena());
        }
    }
};
static_assert(eddy::Backend<LeastBackend>);

/// One that backends may launch: all that they take out of it.
struct LeastKernel {
    using Spec = AnySpec;
    struct Recorder {};
    static constexpr auto kind = eddy::detail::KernelKind::solve;
    int problem = 0;
    LaneOutcome* outcomes = nullptr;
    eddy::TangentMark* marks = nullptr;
    eddy::LaneEvents* events = nullptr;
};
static_assert(eddy::detail::Kernel<LeastKernel>);
static_assert(!eddy::detail::is_gradient<LeastKernel>);

/// A memory and a backend of a device, as declared; what they do: solve/emulated_device.hpp.
struct LeastMemory {
    static constexpr const char* name = "the memory of nobody";
    static constexpr bool takes_arrays_of_host = false;
    static constexpr bool leaves_out_lanes = false;
    void copy_in(void*, const void*, std::size_t) const;
    void copy_out(void*, const void*, std::size_t) const;
    void wait() const;
    bool holds(const void*) const;
    bool is_alone() const;
    bool is_asynchronous() const;
    void forget_checks() const;
    template <class Real>
    eddy::NotFinite first_not_finite(const eddy::EnsembleView<Real>&) const;
    template <class Real>
    void put_rows(const eddy::EnsembleView<Real>&, std::span<const std::ptrdiff_t>,
                  const Real*) const;
    template <class Real>
    void check_later(const eddy::EnsembleView<Real>&, const eddy::detail::ArrayName&,
                     const char*) const;
};
static_assert(eddy::DeviceMemory<LeastMemory>);

struct LeastDevice {
    struct backend_tag {};
    template <class Real>
    using Lanes = Real;
    template <class Real>
    using Time = double;
    template <class Spec>
    using Team = LeastTeam;
    using Memory = LeastMemory;
    struct Kept {};
    bool asynchronous = false;

    Memory memory() const;
    Memory memory(Kept&) const;
    std::ptrdiff_t num_workers(std::ptrdiff_t) const;
    template <class Spec, bool goes_back>
    std::ptrdiff_t num_workers_for(std::ptrdiff_t) const;
    eddy::detail::MemoryLimits memory_limits(const eddy::MemoryBudget&, Kept&) const;
    int stores(const eddy::detail::GradientPlan&, std::ptrdiff_t, Kept&) const;
    template <class Kernel>
    void launch(const eddy::LaunchPlan&, const Kernel&, eddy::detail::CallLink&, Kept&) const;
    template <class Job>
    void launch_paths(const Job&, eddy::detail::CallLink&, Kept&) const;
    eddy::detail::Unfinished unfinished(Kept&) const;
    bool has_added_up(Kept&) const;
    bool has_marked(Kept&) const;
    void bring_addends(Kept&) const;
    std::size_t bytes_of_chunk() const;
};
static_assert(eddy::DeviceBackend<LeastDevice>);
static_assert(!eddy::DeviceBackend<LeastBackend>);

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

/// A guest says what it has to say, and no more.
struct First : eddy::detail::Guest<First> {
    static void enter(std::vector<int>& told, int place, std::int32_t) { told.push_back(place); }
    static double next_time(int, int place) { return place + 0.5; }
};
struct Second : eddy::detail::Guest<Second> {
    static void enter(std::vector<int>& told, int, std::int32_t lane) { told.push_back(lane); }
    static constexpr bool sees(int problem, int, int) { return problem == 1; }
    static double next_time(int, int place) { return place; }
};

}  // namespace

TEST_CASE(
    "contracts: guests are asked in the order of their list, and those that leave a verb out do "
    "nothing") {
    using NoGuests = eddy::detail::RoundGuests<eddy::detail::NoGuest<0>, eddy::detail::NoGuest<1>>;
    static_assert(std::is_empty_v<NoGuests>);
    eddy::detail::RoundGuests<First, eddy::detail::NoGuest<0>, Second> guests;
    std::vector<int> told;

    guests.each([&](auto& guest) { guest.enter(told, 3, 7); });
    const double next = guests.least(9., [](const auto& guest) { return guest.next_time(0, 2); });

    CHECK(told == std::vector<int>{3, 7});
    CHECK(next == 2);
    CHECK(guests.sees(1, 0, 0));
    CHECK_FALSE(guests.sees(0, 0, 0));
    CHECK_FALSE(NoGuests::sees(1, 0, 0));
}

TEST_CASE("contracts: a backend that has what the concepts say has the bits of Serial") {
    const Array y0 = support::rows({{1, 0, 1}, {0.5, 1, 2}, {-1, 2, 0}}),
                p = support::rows({{10, 28, 2}, {9, 20, 3}, {8, 5, 2}});
    const eddy::SolveOptions options{.t1 = 1, .checkpoints = 4, .stable_gradients = false};
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(support::Lorenz{}, eddy::Tsit5{}, Square{}, y0, p, options,
                                        backend);
    };
    const auto solve = [&](const auto& backend) {
        return eddy::solve(support::Lorenz{}, eddy::Tsit5{}, y0, p, options, backend);
    };

    CHECK(support::same_array(solve(LeastBackend{}).y(), solve(eddy::Serial{}).y()));
    const auto found = gradient(LeastBackend{}), expected = gradient(eddy::Serial{});
    CHECK(support::same_array(found.gradient.y0, expected.gradient.y0));
    CHECK(support::same_array(found.gradient.p, expected.gradient.p));
    CHECK_FALSE(found.report.is_watched);
}
