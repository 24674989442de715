// Equations of a program that was made a little while ago are those of then.

#include <cmath>
#include <eddy/ad/rows/runtime_field.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/steppers/rows/esdirk_on_rows.hpp>
#include <eddy/steppers/rows/rosenbrock_on_rows.hpp>
#include <limits>

#include "../../../src/ad/rows/latest_fields.hpp"
#include "../../../src/ad/rows/same_program.hpp"
#include "support/catch.hpp"
#include "support/equations.hpp"

namespace {

using Maker = std::shared_ptr<const eddy::FieldMaker>;

eddy::Graph decay(double rate, const char* name = "rate") {
    return eddy::trace_graph(
        [&](const auto&, const auto& y, const auto& p) {
            return -eddy::checkpoint_name(rate * p[0], name) * y;
        },
        eddy::Scalar{}, eddy::DynamicVector{2}, eddy::DynamicVector{1});
}
Maker field_of(const eddy::Graph& graph, eddy::RowLevel level = eddy::RowLevel::plain,
               std::vector<eddy::detail::ResultPiece> pieces = {}) {
    return eddy::detail::graph_field(graph, {.states = 2, .parameters = 1}, level,
                                     std::move(pieces));
}

}  // namespace

TEST_CASE("latest fields: one program is one equation, and what differs in anything another") {
    const Maker field = field_of(decay(2));
    CHECK(field_of(decay(2)) == field);
    CHECK(field_of(decay(3)) != field);
    CHECK(field_of(decay(2, "other")) != field);
    CHECK(field_of(decay(2), eddy::RowLevel::fused) != field);
    CHECK(field_of(decay(2), eddy::RowLevel::plain, {{2, true}}) != field);
    CHECK(field_of(decay(2)) == field);
}

TEST_CASE("latest fields: numbers are the same where their bits are") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(eddy::detail::are_same_program(decay(nan), decay(nan)));
    CHECK_FALSE(eddy::detail::are_same_program(decay(0.), decay(-0.)));
}

TEST_CASE("latest fields: programs with policies that have values are never the same") {
    const auto graph = [](double least) {
        return eddy::trace_graph(
            [&](const auto&, const auto& y, const auto& p) {
                return eddy::remat([](const auto& u, const auto& a) { return a[0] * exp(u); },
                                   [least](const eddy::Candidate& value) {
                                       return value.size > least ? eddy::Saving::save
                                                                 : eddy::Saving::recompute;
                                   })(y, p);
            },
            eddy::Scalar{}, eddy::DynamicVector{2}, eddy::DynamicVector{1});
    };
    CHECK_FALSE(eddy::detail::are_same_program(graph(1), graph(1)));
}

TEST_CASE("latest fields: the one that has not been asked for longest goes first") {
    const Maker first = field_of(decay(100));
    for (int k = 1; k < 8; ++k) static_cast<void>(field_of(decay(100 + k)));
    CHECK(field_of(decay(100)) == first);
    for (int k = 1; k <= 8; ++k) static_cast<void>(field_of(decay(200 + k)));
    CHECK(field_of(decay(100)) != first);
}

TEST_CASE("latest fields: an equation keeps its steps, each with its tolerances") {
    using eddy::detail::KeepsSteps, eddy::detail::StepsKey;
    const Maker field = eddy::trace_field(3, 3, support::Lorenz{}).maker();
    const auto* const keeper = dynamic_cast<const KeepsSteps*>(field.get());
    REQUIRE(keeper != nullptr);
    int made = 0;
    const auto steps_of = [&](const StepsKey& key) {
        return keeper->steps.find_or_make(key, [&] {
            ++made;
            return field_of(decay(300 + made));
        });
    };
    const auto& rosenbrock = eddy::detail::rosenbrock_on_rows<eddy::Rodas5P, true>;
    static_cast<void>(eddy::detail::with_steps(field, rosenbrock, eddy::RowLevel::plain));
    static_cast<void>(steps_of({&rosenbrock, eddy::RowLevel::plain}));
    CHECK(made == 0);
    static_cast<void>(steps_of({&rosenbrock, eddy::RowLevel::fused}));
    CHECK(made == 1);

    const auto& esdirk = eddy::detail::esdirk_on_rows<eddy::KenCarp4, true>;
    static_cast<void>(
        eddy::detail::with_steps(field, esdirk, {0.1, 1e-6, {1e-9}}, eddy::RowLevel::plain));
    static_cast<void>(steps_of({&esdirk, eddy::RowLevel::plain, 1, {0.1, 1e-6, 1e-9}}));
    CHECK(made == 1);
    static_cast<void>(steps_of({&esdirk, eddy::RowLevel::plain, 1, {0.1, 1e-6, 1e-8}}));
    CHECK(made == 2);
}

TEST_CASE("latest fields: an equation and its steps keep what they are with tangents") {
    const Maker field = eddy::trace_field(3, 3, support::Lorenz{}).maker();
    const auto& method = eddy::detail::rosenbrock_on_rows<eddy::Rodas5P, true>;
    const Maker steps = eddy::detail::with_steps(field, method, eddy::RowLevel::plain);
    const std::vector<eddy::Direction> along_p{eddy::Direction{0}, eddy::Direction{1}};
    const std::vector<eddy::Direction> given{eddy::Direction::given};

    const Maker first = field->with_tangents(along_p), other = field->with_tangents(given);
    REQUIRE(first != nullptr);
    CHECK(field->with_tangents(along_p) == first);
    CHECK(field->with_tangents(given) == other);
    CHECK(first != other);
    CHECK(steps->with_tangents(along_p) != nullptr);
}
