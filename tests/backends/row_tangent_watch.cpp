// Tangents over rows whose errors the steps do not carry: marks of the oracle, and its steps where these errors count.
// Hessians' products follow a second solve.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/sensitivities.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <limits>
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

template <class Real = double>
using Array = eddy::EnsembleArray<Real>;

/// The last component decays by a rate of its own.
template <int size>
struct Decays {
    static constexpr int state_size = size, parameter_size = 2;
    constexpr auto operator()(const auto&, const auto& y, const auto& p) const {
        return eddy::concat(-(p[0] * eddy::slice<0, size - 1>(y)),
                            -(p[1] * eddy::slice<size - 1, 1>(y)));
    }
};
/// It ends nothing.
struct Counted : Decays<2> {
    static constexpr auto event(const auto&, const auto& y, const auto&) { return y[0] - 0.5; }
};
struct Total {
    constexpr auto operator()(const auto&, const auto& y, const auto&) const {
        return eddy::sum(y);
    }
};
template <int size>
eddy::RuntimeField traced() {
    return eddy::trace_field(size, 2, Decays<size>{});
}

/// In one lane of three the last component has moved.
template <int size, class Real = double>
struct Lanes {
    Array<Real> y0, p, along_y0, along_p;

    explicit Lanes(std::ptrdiff_t count)
        : y0(count, size, Real(1)), p(count, 2), along_y0(count, size, Real(1)), along_p(count, 2) {
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) {
            if (is_at_rest(lane)) y0(lane, size - 1) = 0;
            p(lane, 0) = 1 + Real(0.01) * static_cast<Real>(lane);
            p(lane, 1) = 96 - 5 * static_cast<Real>(lane % 20);
        }
    }
    [[nodiscard]] static bool is_at_rest(std::ptrdiff_t lane) { return lane % 3 != 1; }

    template <class Method>
    [[nodiscard]] auto by_rows(const eddy::SolveOptions& options, const auto&... extras) const {
        return eddy::pushforward(traced<size>(), Method{}, y0, p, along_y0, along_p, options,
                                 extras...);
    }
    template <class Method>
    [[nodiscard]] auto by_oracle(const eddy::SolveOptions& options) const {
        return eddy::pushforward(Decays<size>{}, Method{}, y0, p, along_y0, along_p, options,
                                 eddy::Serial{});
    }
};
/// A marked error is beyond 100 rtol of its tangent: so much are the roundings of a step, some 64 of tangents.
template <class Real>
bool are_alike(const eddy::TangentMark& mark, const eddy::TangentMark& wanted, double rtol) {
    const double tolerance = 64 * double{std::numeric_limits<Real>::epsilon()} / (100 * rtol);
    return mark.t == wanted.t && std::abs(mark.ratio - wanted.ratio) <= tolerance * wanted.ratio;
}
/// Sizes read norms in single precision, whose last bits move the errors of a step, which are within the tolerances; what
/// decays forgets all but the last steps, some eight.
template <class Real>
double apart_by_sizes(const eddy::SolveOptions& options) {
    constexpr double of_norms = std::numeric_limits<float>::epsilon();
    return 8 * (of_norms * (options.rtol + options.atol[0]) +
                double{std::numeric_limits<Real>::epsilon()});
}

/// Marks as the oracle's, of which there are some, and not all.
template <class Method, int size, class Real = double>
void compare_marks(std::ptrdiff_t lanes, const eddy::SolveOptions& options) {
    const Lanes<size, Real> of(lanes);

    const auto rows = of.template by_rows<Method>(options);
    const auto oracle = of.template by_oracle<Method>(options);

    int marked = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        marked += bool(oracle.unreliable(lane));
        CHECK(are_alike<Real>(rows.unreliable(lane), oracle.unreliable(lane), options.rtol));
    }
    CHECK(marked > 0);
    CHECK((lanes == 1 || marked < lanes));
}
/// The steps of the oracle where errors of tangents count, and no marks.
template <class Method, int size, class Real = double>
void compare_counted(std::ptrdiff_t lanes, eddy::SolveOptions options) {
    const Lanes<size, Real> of(lanes);
    const auto plain = of.template by_rows<Method>(options);
    options.tangents_in_error_norm = true;

    const auto rows = of.template by_rows<Method>(options);
    const auto oracle = of.template by_oracle<Method>(options);

    const double tolerance = apart_by_sizes<Real>(options);
    bool same = true, differs = false, close = true;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        same = same && rows.stats(lane).accepted == oracle.stats(lane).accepted &&
               rows.stats(lane).rejected == oracle.stats(lane).rejected &&
               rows.stats(lane).evaluations == oracle.stats(lane).evaluations;
        differs = differs || rows.stats(lane).accepted != plain.stats(lane).accepted;
        CHECK_FALSE(rows.unreliable(lane));
        for (int c = 0; c < size; ++c) {
            const auto off = rows.y()(lane, c) - oracle.y()(lane, c);
            const auto error = rows.tangent()(lane, c) - oracle.tangent()(lane, c);
            close = close && std::abs(off) <= tolerance && std::abs(error) <= tolerance;
        }
    }
    CHECK(close);
    CHECK(same);
    CHECK(differs);
}

}  // namespace

TEST_CASE("rows: tangents that the steps do not carry are marked as the oracle marks them") {
    for (const std::ptrdiff_t lanes : {1, 9, 150})
        compare_marks<eddy::Tsit5, 2>(lanes, {.t1 = 10, .save_at = {0, 3.3, 10}});
    compare_marks<eddy::Tsit5, 20>(70, {.t0 = 10, .t1 = 0, .rtol = 1e-8});
    compare_marks<eddy::Dopri8, 2>(9, {.t1 = 10});
    compare_marks<eddy::Tsit5, 2, float>(9, {.t1 = 10, .rtol = 1e-4, .atol = 1e-5});
}
TEST_CASE("rows: tangents of implicit steps are marked as the oracle marks them") {
    const eddy::SolveOptions options{.t1 = 10, .rtol = 1e-8, .atol = 1e-10};
    compare_marks<eddy::Rodas5P, 2>(9, options);
    compare_marks<eddy::Kvaerno5, 2>(9, options);
    compare_marks<eddy::Kvaerno5, 20>(1, options);
}
TEST_CASE("rows: where errors of tangents count, steps are those of the oracle") {
    compare_counted<eddy::Tsit5, 2>(70, {.t1 = 3});
    compare_counted<eddy::Tsit5, 20>(1, {.t1 = 3});
    compare_counted<eddy::Dopri8, 2>(9, {.t1 = 3});
    compare_counted<eddy::Rodas5P, 2>(9, {.t1 = 3});
    compare_counted<eddy::Kvaerno5, 2>(9, {.t1 = 3});
    compare_counted<eddy::Tsit5, 2, float>(9, {.t1 = 3, .rtol = 1e-4, .atol = 1e-5});
}
TEST_CASE("rows: marks of a solver object are those of its last call") {
    const Lanes<2> of(9);
    const Array<> zero(9, 2);
    auto solver = eddy::ensemble_solver(traced<2>(), eddy::Tsit5{}, {.t1 = 10});

    const bool first = bool(solver(of.y0, of.p, of.along_y0, of.along_p).unreliable(5));

    CHECK(first);
    CHECK_FALSE(solver(of.y0, of.p, zero, zero).unreliable(5));
    CHECK_FALSE(solver(of.y0, of.p).unreliable(5));
}
TEST_CASE(
    "rows: tangents are watched where all share their steps, and not where nobody judges them") {
    const Lanes<2> of(9);
    const auto marked = [](const auto& solution) {
        int count = 0;
        for (std::ptrdiff_t lane = 0; lane < 9; ++lane) count += bool(solution.unreliable(lane));
        return count;
    };
    CHECK(marked(of.by_rows<eddy::Tsit5>({.t1 = 10}, eddy::JointController{})) > 0);
    CHECK(marked(of.by_rows<eddy::Tsit5>({.t1 = 10, .dt0 = 0.5}, eddy::ConstantController{})) == 0);
    CHECK(marked(eddy::pushforward(Counted{}, eddy::Tsit5{}, of.y0, of.p, of.along_y0, of.along_p,
                                   {.t1 = 10}, eddy::Rows{})) == 0);
}
TEST_CASE("rows: sensitivities are marked direction by direction, as the oracle's are") {
    const Lanes<20> of(9);
    const eddy::SolveOptions options{.t1 = 10};
    auto solver = eddy::sensitivity_solver(traced<20>(), eddy::Tsit5{}, options, eddy::along_both);

    const auto& found = solver(of.y0, of.p);

    const auto oracle = eddy::sensitivities(Decays<20>{}, eddy::Tsit5{}, of.y0, of.p, options,
                                            eddy::along_both, eddy::Serial{});
    REQUIRE(found.num_directions() == 22);  // in blocks of 12
    int marked = 0;
    for (std::ptrdiff_t lane = 0; lane < 9; ++lane) {
        for (std::ptrdiff_t d = 0; d < 22; ++d) {
            marked += bool(oracle.unreliable(lane, d));
            CHECK(are_alike<double>(found.unreliable(lane, d), oracle.unreliable(lane, d),
                                    options.rtol));
        }
    }
    CHECK(marked > 0);
    CHECK(marked < 9 * 22);
    CHECK(found.unreliable(5, 21));
}
TEST_CASE("rows: all derivatives share the steps of the state") {
    const Lanes<2> of(2);
    const eddy::SolveOptions counts{.t1 = 1, .tangents_in_error_norm = true};
    const auto says = [](const auto& call) {
        return support::mentions(support::message_of(call),
                                 "tangents_in_error_norm = true, but all derivatives share the "
                                 "steps of the state");
    };
    CHECK(says([&] {
        static_cast<void>(eddy::sensitivities(traced<2>(), eddy::Tsit5{}, of.y0, of.p, counts));
    }));
    CHECK(says([&] {
        static_cast<void>(eddy::hessian_vector_product(traced<2>(), eddy::Tsit5{}, Total{}, of.y0,
                                                       of.p, of.along_y0, of.along_p, counts));
    }));
}

namespace {

/// ∂loss/∂y0 = exp(−p t): its derivative along p is −t exp(−p t).
void compare_hessians(const auto& lanes, const auto& p, const auto& along_p,
                      const eddy::SolveOptions& options) {
    const auto product_of = [&](const auto& field, const auto&... extras) {
        return eddy::hessian_vector_product(field, eddy::Tsit5{}, Total{}, lanes.y0, p,
                                            lanes.along_y0, along_p, options, extras...);
    };

    const auto rows = product_of(traced<2>());
    const auto oracle = product_of(Decays<2>{}, eddy::Serial{});

    const auto check_close = [&](const Array<>& a, const Array<>& b) {
        const double tolerance = apart_by_sizes<double>(options);
        bool close = true;
        for (std::ptrdiff_t row = 0; row < a.rows(); ++row)
            for (std::ptrdiff_t i = 0; i < a.cols(); ++i)
                close = close &&
                        std::abs(a(row, i) - b(row, i)) <= tolerance * (1 + std::abs(b(row, i)));
        CHECK(close);
    };
    CHECK(rows.report.is_watched);
    int marked = 0;
    for (std::ptrdiff_t lane = 0; lane < lanes.y0.rows(); ++lane) {
        const eddy::GradientMark mark = rows.report.unreliable(lane),
                                 wanted = oracle.report.unreliable(lane);
        CHECK(rows.report.redone(lane) == oracle.report.redone(lane));
        CHECK(bool(mark) == bool(wanted));
        CHECK(mark.t == wanted.t);
        // Powers of cotangents that nothing cancels: roundings of some 64 operations.
        CHECK(std::abs(mark.ratio - wanted.ratio) <=
              64 * std::numeric_limits<double>::epsilon() * wanted.ratio);
        marked += mark || rows.report.redone(lane);
    }
    CHECK(marked > 0);
    CHECK(marked < lanes.y0.rows());
    if (!options.stable_gradients) return;
    for (const auto which : {&eddy::Gradient<double>::y0, &eddy::Gradient<double>::p}) {
        check_close(rows.gradient.*which, oracle.gradient.*which);
        check_close(rows.product.*which, oracle.product.*which);
    }
}

}  // namespace

TEST_CASE("rows: Hessians' products follow the second solve of the oracle") {
    Lanes<2> lanes(150);
    for (std::ptrdiff_t lane = 0; lane < 150; ++lane) {
        lanes.p(lane, 1) = 50 + static_cast<double>(lane % 7);
        lanes.along_p(lane, 1) = 1;
    }
    Array<> one(1, 2, 1.), along(1, 2, 0.);
    one(0, 1) = 50;
    along(0, 1) = 1;
    for (const bool stable : {false, true}) {
        const eddy::SolveOptions options{.t1 = 0.2, .stable_gradients = stable};
        compare_hessians(lanes, lanes.p, lanes.along_p, options);
        compare_hessians(lanes, eddy::shared(one), eddy::shared(along), options);
    }
}
