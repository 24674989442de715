// What the zeros of a Jacobian are worth: factors of the step matrix of Pollution (20 species), and the six
// solves of a Rodas4 step with them, by the sparse factors that eddy writes out when it compiles, and by
// loops over a dense matrix. Neither exchanges rows; both compute packs of lanes.

#include <cmath>
#include <eddy/ad/linear_model.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/linalg/sparse_lu.hpp>
#include <eddy/steppers/step_matrix.hpp>
#include <eddy/trace/field.hpp>
#include <vector>

#include "support/stiff_equations.hpp"
#include "table.hpp"
#include "timing.hpp"

namespace {

using namespace benchmark;

constexpr int size = support::Pollution::state_size, num_solves = 6;
using Number = eddy::Pack<double, eddy::native_lanes<double>>;
using Vector = eddy::Vec<Number, size>;
using Model = eddy::LinearModel<eddy::FieldProgram<support::Pollution>>;
using Matrix = eddy::detail::StepMatrix<Model>;
using Sparse = eddy::SparseLu<Matrix, Number>;

/// L below the diagonal, U above, and the reciprocals of U's diagonal.
struct Dense {
    Number lu[size][size];

    explicit Dense(const Sparse::Entries& entries) : lu{} {
        for (int e = 0; e < Matrix::num_entries; ++e)
            lu[Matrix::pattern[e].row][Matrix::pattern[e].column] = entries[e];
    }
    void factor() {
        for (int k = 0; k < size; ++k) {
            lu[k][k] = Number(1) / lu[k][k];
            for (int i = k + 1; i < size; ++i) {
                const Number multiplier = lu[i][k] * lu[k][k];
                for (int j = k + 1; j < size; ++j)
                    lu[i][j] = mul_add(-multiplier, lu[k][j], lu[i][j]);
                lu[i][k] = multiplier;
            }
        }
    }
    void solve_in_place(Vector& b) const {
        for (int i = 0; i < size; ++i) {
            Number sum = b[i];
            for (int j = 0; j < i; ++j) sum = mul_add(-lu[i][j], b[j], sum);
            b[i] = sum;
        }
        for (int i = size; i-- > 0;) {
            Number sum = b[i];
            for (int j = i + 1; j < size; ++j) sum = mul_add(-lu[i][j], b[j], sum);
            b[i] = sum * lu[i][i];
        }
    }
};

/// J − I/(γh) at the start of Pollution, for lanes with rates of their own.
Sparse::Entries step_matrix(double h) {
    eddy::Vec<Number, size> y{};
    eddy::Vec<Number, support::Pollution::parameter_size> p{};
    for (int i = 0; i < size; ++i) y[i] = Number(support::Pollution::y0[i] + 1e-3);
    for (int i = 0; i < support::Pollution::parameter_size; ++i)
        p[i] = Number(support::Pollution::p0[i]);
    Sparse::Entries entries{};
    eddy::evaluate<Model::Values, Number>(
        [&]<int output>(int component, const Number& value) {
            if constexpr (output == Model::jacobian_output) entries.data[component] = value;
        },
        Number(0), y, p);
    for (int e = 0; e < Matrix::num_entries; ++e) {
        if (Matrix::entry[e].row == Matrix::entry[e].column)
            entries[e] = entries[e] - Number(1 / (0.25 * h));
    }
    return entries;
}

/// Factors, and as many solves with one right-hand side after the other.
[[gnu::noinline]] void by_sparse(const Sparse::Entries& entries, Vector& b, int solves) {
    Sparse factors;
    factors.factor(entries);
    for (int i = 0; i < solves; ++i) factors.solve_in_place(b);
    if (solves == 0) b[0] = factors.factors[Sparse::Symbolic::sizes.factors - 1];
}
[[gnu::noinline]] void by_dense(const Sparse::Entries& entries, Vector& b, int solves) {
    Dense factors(entries);
    factors.factor();
    for (int i = 0; i < solves; ++i) factors.solve_in_place(b);
    if (solves == 0) b[0] = factors.lu[size - 1][size - 1];
}

void compare(const char* what, int solves) {
    constexpr int repeats = 2000;
    std::vector<Sparse::Entries> matrices;
    for (const double h : {0.01, 0.02, 0.05, 0.1}) matrices.push_back(step_matrix(h));
    const auto run = [&](const auto& by, Vector& b) {
        for (int i = 0; i < repeats; ++i) {
            b[0] = Number(1);
            by(matrices[static_cast<std::size_t>(i) % matrices.size()], b, solves);
        }
        kept = get_lane(b[0], 0);
    };
    Vector of_sparse{}, of_dense{};
    for (int i = 0; i < size; ++i) of_sparse[i] = of_dense[i] = Number(1);
    by_sparse(matrices[0], of_sparse, solves);
    by_dense(matrices[0], of_dense, solves);
    double difference = 0;
    for (int i = 0; i < (solves > 0 ? size : 0); ++i)
        difference = std::fmax(difference, std::fabs(get_lane(of_sparse[i] / of_dense[i], 0) - 1));

    Race race;
    constexpr double work = repeats * double{eddy::native_lanes<double>};
    const int sparse = race.add(work, [&] { run(by_sparse, of_sparse); });
    const int dense = race.add(work, [&] { run(by_dense, of_dense); });
    race.run(21);
    print_row(text("%s, dense", what), "", nanoseconds(race.time(dense)), "", "");
    print_row(text("%s, sparse", what), ">= 2", nanoseconds(race.time(sparse)),
              text("%.2f", race.ratio(dense, sparse)),
              solves > 0 ? text("solutions differ by %.0e", difference) : "");
}

}  // namespace

int main() {
    print_heading("sparse against dense factors, Pollution: 20 states, 86 entries",
                  "Of one lane, in packs on 1 thread; median of 21 rounds, processor time. Ratio: "
                  "dense to sparse.");
    compare("factors", 0);
    compare("factors and six solves", num_solves);
}
