// The factorisation of a sparse matrix and the solves with it run on the device in registers, in float,
// double and dual numbers.
#include <eddy/eddy.hpp>

#include "support/stiff_equations.hpp"

/// The matrices that steps of a stiff method factor.
template <class Field>
struct JacobianWithDiagonal {
    using Jacobian = eddy::Jacobian<eddy::FieldProgram<Field>, 1>;
    static constexpr int size = Field::state_size;
    static constexpr bool lacks(int i) {
        for (int e = 0; e < Jacobian::num_nonzeros; ++e) {
            if (Jacobian::pattern[e] == eddy::JacobianEntry{i, i}) return false;
        }
        return true;
    }
    static constexpr int num_entries = [] {
        int count = Jacobian::num_nonzeros;
        for (int i = 0; i < size; ++i) count += lacks(i) ? 1 : 0;
        return count;
    }();
    static constexpr auto pattern = [] {
        eddy::Vec<eddy::MatrixEntry, num_entries> entries{};
        int last = Jacobian::num_nonzeros;
        for (int e = 0; e < Jacobian::num_nonzeros; ++e)
            entries[e] = {Jacobian::pattern[e].row, Jacobian::pattern[e].column};
        for (int i = 0; i < size; ++i) {
            if (lacks(i)) entries[last++] = {i, i};
        }
        return entries;
    }();
};

/// Solves with the matrix of each lane and with its transpose.
template <class Field, class Real>
__global__ void solve_kernel(const Real* values, const Real* right, Real* solution, bool* grown,
                             int num_lanes) {
    using Structure = JacobianWithDiagonal<Field>;
    const int lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane >= num_lanes) return;
    eddy::Vec<Real, Structure::num_entries> entries;
    eddy::Vec<Real, Structure::size> b;
    for (int e = 0; e < Structure::num_entries; ++e) entries[e] = values[e * num_lanes + lane];
    for (int i = 0; i < Structure::size; ++i) b[i] = right[i * num_lanes + lane];
    eddy::SparseLu<Structure, Real> lu;
    lu.factor(entries);
    const auto x = lu.solve_transposed(lu.solve(b));
    for (int i = 0; i < Structure::size; ++i) solution[i * num_lanes + lane] = x[i];
    grown[lane] = lu.has_grown(entries);
}

template __global__ void solve_kernel<support::Robertson>(const float*, const float*, float*, bool*,
                                                          int);
template __global__ void solve_kernel<support::Robertson>(const double*, const double*, double*,
                                                          bool*, int);
template __global__ void solve_kernel<support::Robertson>(const eddy::Dual<double>*,
                                                          const eddy::Dual<double>*,
                                                          eddy::Dual<double>*, bool*, int);
template __global__ void solve_kernel<support::Hires>(const double*, const double*, double*, bool*,
                                                      int);
