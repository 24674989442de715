// Several processes share the lanes: their sums, gathered, have the bits of one process with all of
// them. Threads stand for the processes, and a barrier for what gathers.

#include <barrier>
#include <cmath>
#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/rank_threads.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::same_array;
using support::same_bits;

/// Rows of all processes, one after another, to each of them.
class AllGather {
  public:
    explicit AllGather(std::ptrdiff_t num_processes)
        : rows_(static_cast<std::size_t>(num_processes)), meet_(num_processes) {}

    [[nodiscard]] eddy::GatherSums of(std::size_t process) {
        return [this, process](std::vector<double>& sums, std::ptrdiff_t) {
            rows_[process] = sums;
            meet_.arrive_and_wait();
            sums.clear();
            for (const auto& rows : rows_) sums.insert(sums.end(), rows.begin(), rows.end());
            meet_.arrive_and_wait();  // nobody overwrites what another still reads
        };
    }

  private:
    std::vector<std::vector<double>> rows_;  // (process)
    std::barrier<> meet_;
};

template <class Real = double>
eddy::EnsembleArray<Real> some(std::ptrdiff_t lanes, double offset) {
    eddy::EnsembleArray<Real> array(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        array(lane, 0) = static_cast<Real>(offset + 0.1 * double(lane % 17));
        array(lane, 1) = static_cast<Real>(1.5 - 0.003 * double(lane % 131));
    }
    return array;
}
template <class Real>
eddy::EnsembleArray<Real> rows_of(const eddy::EnsembleArray<Real>& all, std::ptrdiff_t first,
                                  std::ptrdiff_t count) {
    return eddy::EnsembleArray<Real>(
        eddy::EnsembleView<const Real>{all.data() + first, count, all.cols(), 1, all.rows()});
}

// Some lanes take 24 steps and fewer, others more.
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-4, .atol = 1e-6, .max_steps = 24};
const eddy::Cpu one_thread{.threads = 1};

/// What `call(y0, options)` gives for all lanes at once, then for shares of them.
template <class Real, class Call>
auto in_shares(const eddy::EnsembleArray<Real>& y0, const std::vector<std::ptrdiff_t>& counts,
               Call call) {
    std::vector<decltype(call(y0, options))> results(counts.size());
    AllGather gather(std::ssize(counts));
    std::vector<std::jthread> processes;
    std::ptrdiff_t first = 0;
    for (std::size_t process = 0; process < counts.size(); ++process) {
        processes.emplace_back([&, process, share = rows_of(y0, first, counts[process])] {
            auto asked = options;
            asked.gather_sums = gather.of(process);
            results[process] = call(share, asked);
        });
        first += counts[process];
    }
    processes.clear();  // joins
    return results;
}

}  // namespace

TEMPLATE_TEST_CASE("processes: loss and shared gradient are those of one process, bit for bit", "",
                   float, double) {
    using Real = TestType;
    const std::vector<Real> theta{Real(1.1), Real(0.7)};
    const std::vector data(1, eddy::EnsembleArray<Real>(1, 2, Real(0.25)));
    const auto call = [&](const auto& y0, const eddy::SolveOptions& asked) {
        auto solver =
            eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, one_thread);
        solver(data, y0, eddy::shared(theta));
        return solver(data, y0, eddy::shared(theta));  // the second call as the first
    };
    // Fewer than 4,096 lanes and more are added up in different ways.
    for (const std::vector<std::ptrdiff_t>& counts :
         std::vector<std::vector<std::ptrdiff_t>>{{128, 300}, {64, 192, 0, 7}, {4160, 64, 1000}}) {
        std::ptrdiff_t lanes = 0;
        for (const std::ptrdiff_t count : counts) lanes += count;
        const auto y0 = some<Real>(lanes, 0.1);
        const auto wanted = call(y0, options);
        REQUIRE_FALSE(wanted.report.success());  // lanes that fail are left out in both
        REQUIRE(wanted.loss.total_of_successful > 0);

        const auto results = in_shares(y0, counts, call);

        std::ptrdiff_t first = 0;
        for (std::size_t process = 0; process < counts.size(); ++process) {
            const auto& result = results[process];
            CHECK(std::isnan(result.loss.total));
            CHECK(same_bits(result.loss.total_of_successful, wanted.loss.total_of_successful));
            CHECK(result.loss.num_successful == wanted.loss.num_successful);
            CHECK(same_array(result.gradient.p, wanted.gradient.p));
            CHECK(same_array(result.gradient.y0,
                             rows_of(wanted.gradient.y0, first, counts[process])));
            first += counts[process];
        }
    }
}

TEST_CASE("processes: Hessian-vector products and pullbacks too") {
    const std::vector<double> theta{1.1, 0.7}, direction{0.3, -0.2};
    const Array y0 = some(300, 0.1);
    const auto product = [&](const Array& of, const eddy::SolveOptions& asked) {
        return eddy::hessian_vector_product(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                            Array(1, 2, 0.25), of, eddy::shared(theta), of,
                                            eddy::shared(direction), asked, eddy::Serial{});
    };
    const auto pulled = [&](const Array& of, const eddy::SolveOptions& asked) {
        auto solver = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, asked, eddy::Serial{});
        return solver(Array(1, 2, 0.75), of, eddy::shared(theta)).gradient;
    };
    const auto wanted = product(y0, options);
    const eddy::Gradient<double> pulled_at_once = pulled(y0, options);
    REQUIRE(wanted.loss.total_of_successful > 0);

    for (const auto& result : in_shares(y0, {192, 108}, product)) {
        CHECK(same_bits(result.loss.total_of_successful, wanted.loss.total_of_successful));
        CHECK(same_array(result.gradient.p, wanted.gradient.p));
        CHECK(same_array(result.product.p, wanted.product.p));
    }
    for (const auto& gradient : in_shares(y0, {192, 108}, pulled))
        CHECK(same_array(gradient.p, pulled_at_once.p));
}

TEST_CASE("processes: it is asked once a call, with whole rows, where there is something to add") {
    const std::vector<double> theta{1.1, 0.7};
    const Array y0 = some(130, 0.1), p = some(130, 1), data(1, 2, 0.25);
    std::vector<std::ptrdiff_t> columns;
    std::vector<std::size_t> sizes;
    auto asked = options;
    asked.gather_sums = [&](std::vector<double>& sums, std::ptrdiff_t num_columns) {
        columns.push_back(num_columns);
        sizes.push_back(sums.size());
    };
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, one_thread);
    auto pull = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, asked, one_thread);

    static_cast<void>(differentiate(data, y0, p));
    static_cast<void>(differentiate(data, y0, eddy::shared(theta)));
    static_cast<void>(pull(data, y0, p));
    static_cast<void>(pull(data, y0, eddy::shared(theta)));

    CHECK(columns == std::vector<std::ptrdiff_t>{3, 5, 2});
    CHECK(sizes == std::vector<std::size_t>{9, 15, 6});

    asked.gather_sums = [](std::vector<double>& sums, std::ptrdiff_t) { sums.push_back(0); };
    CHECK(
        support::message_of([&] {
            static_cast<void>(eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data,
                                                       y0, eddy::shared(theta), asked, one_thread));
        }) == "value_and_gradient: gather_sums has left 16 numbers in rows of 5; give whole rows");

    asked.gather_sums = [](std::vector<double>& sums, std::ptrdiff_t) { sums.clear(); };
    auto forgetful =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, one_thread);
    CHECK(
        support::message_of([&] { static_cast<void>(forgetful(data, y0, eddy::shared(theta))); }) ==
        "value_and_gradient: gather_sums has left nothing; leave this process's blocks among "
        "those of all");
}

namespace {

/// What `call(rows, backend)` gives each rank for its rows; ranks have one thread, two, three.
template <class Inner, class Call>
auto over_ranks(const Array& y0, const std::vector<std::ptrdiff_t>& counts, Call call) {
    using Backend = support::ThreadRanks<Inner>;
    std::vector<decltype(call(y0, Backend{}))> results(counts.size());
    support::run_local_ranks(static_cast<int>(counts.size()), [&](const auto& group) {
        const auto rank = static_cast<std::size_t>(group->rank());
        std::ptrdiff_t first = 0;
        for (std::size_t before = 0; before < rank; ++before) first += counts[before];
        Backend backend{{}, group};
        if constexpr (requires { backend.inner.threads; })
            backend.inner.threads = 1 + group->rank() % 3;
        results[rank] = call(rows_of(y0, first, counts[rank]), backend);
    });
    return results;
}

}  // namespace

TEST_CASE("ranks: loss and shared gradient are those of one machine, however lanes are divided") {
    const std::vector<double> theta{1.1, 0.7};
    const auto call = [&](const Array& y0, const auto& backend) {
        auto solver =
            eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, backend);
        solver(Array(1, 2, 0.25), y0, eddy::shared(theta));
        return solver(Array(1, 2, 0.25), y0, eddy::shared(theta));  // the second as the first
    };
    // Up to 4,096 lanes on a rank are added up in another way than more.
    for (const std::vector<std::ptrdiff_t>& counts : std::vector<std::vector<std::ptrdiff_t>>{
             {700}, {350, 350}, {1, 2, 697}, {100, 64, 0, 536}, {30, 20, 10, 640}, {70, 5000}}) {
        std::ptrdiff_t lanes = 0;
        for (const std::ptrdiff_t count : counts) lanes += count;
        const Array y0 = some(lanes, 0.1);
        const auto wanted = call(y0, one_thread);
        REQUIRE(wanted.loss.total_of_successful > 0);
        const auto check = [&](const auto& results) {
            std::ptrdiff_t first = 0;
            for (std::size_t rank = 0; rank < counts.size(); ++rank) {
                const auto& result = results[rank];
                CHECK(std::isnan(result.loss.total));  // lanes fail
                CHECK(same_bits(result.loss.total_of_successful, wanted.loss.total_of_successful));
                CHECK(same_bits(result.loss.mean_of_successful, wanted.loss.mean_of_successful));
                CHECK(result.loss.num_successful == wanted.loss.num_successful);
                CHECK(same_array(result.gradient.p, wanted.gradient.p));
                CHECK(same_array(result.gradient.y0,
                                 rows_of(wanted.gradient.y0, first, counts[rank])));
                first += counts[rank];
            }
        };
        check(over_ranks<eddy::Cpu>(y0, counts, call));
        if (lanes < 1000) check(over_ranks<eddy::Serial>(y0, counts, call));
    }
}

TEST_CASE("ranks: Hessian-vector products and pullbacks too") {
    const std::vector<double> theta{1.1, 0.7}, direction{0.3, -0.2};
    const Array y0 = some(300, 0.1);
    const auto product = [&](const Array& of, const auto& backend) {
        return eddy::hessian_vector_product(Forced{}, eddy::Bosh3{}, HalfSquares{},
                                            Array(1, 2, 0.25), of, eddy::shared(theta), of,
                                            eddy::shared(direction), options, backend);
    };
    const auto pulled = [&](const Array& of, const auto& backend) {
        auto solver = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options, backend);
        return solver(Array(1, 2, 0.75), of, eddy::shared(theta)).gradient;
    };
    const auto wanted = product(y0, eddy::Serial{});
    const auto pulled_at_once = pulled(y0, eddy::Serial{});

    for (const auto& result : over_ranks<eddy::Serial>(y0, {150, 50, 100}, product)) {
        CHECK(same_bits(result.loss.total_of_successful, wanted.loss.total_of_successful));
        CHECK(same_array(result.gradient.p, wanted.gradient.p));
        CHECK(same_array(result.product.p, wanted.product.p));
    }
    for (const auto& gradient : over_ranks<eddy::Serial>(y0, {150, 50, 100}, pulled))
        CHECK(same_array(gradient.p, pulled_at_once.p));
}

TEST_CASE("ranks: a bad argument of one is told on all, and gather_sums has no place") {
    const std::vector<double> theta{1.1, 0.7};
    std::vector<std::string> said(3), refused(3);
    support::run_local_ranks(3, [&](const auto& group) {
        const auto rank = static_cast<std::size_t>(group->rank());
        const support::ThreadRanks<eddy::Serial> backend{{}, group};
        const auto call = [&](const Array& y0, const eddy::SolveOptions& asked) {
            return support::message_of([&] {
                auto solver =
                    eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, backend);
                solver(Array(1, 2, 0.25), y0, eddy::shared(theta));
            });
        };
        Array y0 = some(5, 0.1);
        if (rank == 1) y0(3, 1) = std::numeric_limits<double>::quiet_NaN();
        said[rank] = call(y0, options);
        auto asked = options;
        asked.gather_sums = [](std::vector<double>&, std::ptrdiff_t) {};
        refused[rank] = call(some(5, 0.1), asked);
    });
    const std::string own = "value_and_gradient: y0(3, 1) = nan; give finite numbers";
    CHECK(said[1] == own);
    CHECK(said[0] == "value_and_gradient: rank 1 has ended the call: " + own);
    CHECK(said[2] == said[0]);
    for (const std::string& text : refused)
        CHECK(text ==
              "value_and_gradient: gather_sums with Mpi, which adds over all ranks itself; "
              "leave one of them out");
    using namespace eddy::detail;
    CHECK(support::message_of([] {
              require_possible_on(Machine::ranks, Features().with(Feature::early_return), "solve");
          }) ==
          "solve: an asynchronous call over ranks, which wait for each other; leave one of them "
          "out");
}
