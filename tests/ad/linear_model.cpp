#include <eddy/ad/linear_model.hpp>
#include <eddy/trace/field.hpp>

#include "support/catch.hpp"
#include "support/equations.hpp"
#include "support/stiff_equations.hpp"

namespace {

struct Driven {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(t * t * y[0] * y[1] + p[0], y[1] * y[1]);
    }
};
/// f that does not depend on y.
struct Drift {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto t, const auto&, const auto& p) const {
        return eddy::vec(p[0] * t);
    }
};

template <class Field>
using ModelOf = eddy::LinearModel<eddy::FieldProgram<Field>>;

}  // namespace

TEST_CASE("linear_model: value, non-zeros of the Jacobian and time derivative in one program") {
    const eddy::Vec<double, 2> y{{3, 5}};
    const eddy::Vec<double, 1> p{{7}};

    const auto [f, jacobian, slope] = ModelOf<Driven>::Values{}(2.0, y, p);

    CHECK(f == eddy::Vec<double, 2>{{4 * 15 + 7, 25}});
    CHECK(jacobian == eddy::Vec<double, 3>{{4 * 5, 4 * 3, 10}});
    CHECK(slope == eddy::Vec<double, 2>{{4 * 15, 0}});
    CHECK(ModelOf<Driven>::pattern() == std::vector<eddy::JacobianEntry>{{0, 0}, {0, 1}, {1, 1}});
}

TEST_CASE("linear_model: what does not depend on the state or on time has no result") {
    STATIC_REQUIRE_FALSE(ModelOf<support::Lorenz>::depends_on_time);
    STATIC_REQUIRE_FALSE(ModelOf<Drift>::has_jacobian);

    const auto [f, slope] =
        ModelOf<Drift>::Values{}(2.0, eddy::Vec<double, 1>{{1}}, eddy::Vec<double, 1>{{3}});

    CHECK(f[0] == 6);
    CHECK(slope[0] == 3);
}

TEST_CASE("linear_model: f and its Jacobian share what they have in common") {
    using Program = eddy::FieldProgram<support::Pollution>;
    constexpr int alone = Program::graph.size() + eddy::Jacobian<Program, 1>::Values::graph.size();

    CHECK(eddy::LinearModel<Program>::Values::graph.size() < alone - 40);
}
