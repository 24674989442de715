#include "hand_vectors.hpp"

#include <cstring>
#include <eddy/core/pack.hpp>
#include <eddy/solvers/tsit5.hpp>

namespace benchmark {
namespace {

template <class Real>
using Vector = eddy::simd::Vector<Real, eddy::native_lanes<Real>>;

template <class Real>
Vector<Real> load(const Real* source) {
    Vector<Real> result;
    std::memcpy(&result, source, sizeof result);
    return result;
}
template <class Real>
void store(Real* target, const Vector<Real>& value) {
    std::memcpy(target, &value, sizeof value);
}

/// The tableau times dt.
template <class Real>
struct Coefficients {
    Real a[6][6], b[6];

    explicit Coefficients(double dt) {
        for (int i = 0; i < 6; ++i) {
            b[i] = static_cast<Real>(eddy::Tsit5::tableau.b[i] * dt);
            for (int j = 0; j < 6; ++j)
                a[i][j] = static_cast<Real>(eddy::Tsit5::tableau.a[i][j] * dt);
        }
    }
};

template <class Real>
class HandStep {
    using V = Vector<Real>;

  public:
    HandStep(const Coefficients<Real>& coefficients, const V& rho)
        : c_(coefficients), rho_(rho), sigma_(Real(10) - V{}), beta_(Real(8. / 3) - V{}) {}

    [[gnu::always_inline]] void advance(V (&y)[3]) const {
        V k[6][3];
        stages<0, 6>(y, k, nullptr);
        for (int n = 0; n < 3; ++n)
            y[n] = y[n] + c_.b[0] * k[0][n] + c_.b[1] * k[1][n] + c_.b[2] * k[2][n] +
                   c_.b[3] * k[3][n] + c_.b[4] * k[4][n] + c_.b[5] * k[5][n];
    }

    /// The states of all stages of a step from y.
    [[gnu::always_inline]] void compute_stages(const V (&y)[3], V (&states)[6][3]) const {
        V k[6][3];
        stages<0, 6>(y, k, states);
    }

    /// `cotangent`, of the state after the step, becomes that of the state before; adds to
    /// p_cotangent.
    [[gnu::always_inline]] void pull_back(const V (&states)[6][3], V (&cotangent)[3],
                                          V (&p_cotangent)[3]) const {
        V pulled[6][3];
        const V next[3] = {cotangent[0], cotangent[1], cotangent[2]};
        pull_stages<5>(states, next, pulled, cotangent, p_cotangent);
    }

  private:
    template <int i, int last>
    [[gnu::always_inline]] void stages(const V (&y)[3], V (&k)[6][3], V (*states)[3]) const {
        V x[3];
        for (int n = 0; n < 3; ++n) {
            x[n] = y[n];
            if constexpr (i > 0) x[n] = x[n] + c_.a[i][0] * k[0][n];
            if constexpr (i > 1) x[n] = x[n] + c_.a[i][1] * k[1][n];
            if constexpr (i > 2) x[n] = x[n] + c_.a[i][2] * k[2][n];
            if constexpr (i > 3) x[n] = x[n] + c_.a[i][3] * k[3][n];
            if constexpr (i > 4) x[n] = x[n] + c_.a[i][4] * k[4][n];
            if (states) states[i][n] = x[n];
        }
        k[i][0] = sigma_ * (x[1] - x[0]);
        k[i][1] = x[0] * (rho_ - x[2]) - x[1];
        k[i][2] = x[0] * x[1] - beta_ * x[2];
        if constexpr (i + 1 < last) stages<i + 1, last>(y, k, states);
    }

    /// The cotangent that comes last is added last: the sums before it wait for nothing.
    template <int i>
    [[gnu::always_inline]] void pull_stages(const V (&states)[6][3], const V (&next)[3],
                                            V (&pulled)[6][3], V (&cotangent)[3],
                                            V (&p_cotangent)[3]) const {
        V k[3];
        for (int n = 0; n < 3; ++n) {
            k[n] = c_.b[i] * next[n];
            if constexpr (i < 5) k[n] = k[n] + c_.a[5][i] * pulled[5][n];
            if constexpr (i < 4) k[n] = k[n] + c_.a[4][i] * pulled[4][n];
            if constexpr (i < 3) k[n] = k[n] + c_.a[3][i] * pulled[3][n];
            if constexpr (i < 2) k[n] = k[n] + c_.a[2][i] * pulled[2][n];
            if constexpr (i < 1) k[n] = k[n] + c_.a[1][i] * pulled[1][n];
        }
        const V x = states[i][0], y = states[i][1], z = states[i][2], sk = sigma_ * k[0];
        pulled[i][0] = (rho_ - z) * k[1] - sk + y * k[2];
        pulled[i][1] = sk - k[1] + x * k[2];
        pulled[i][2] = -(x * k[1]) - beta_ * k[2];
        p_cotangent[0] = p_cotangent[0] + (y - x) * k[0];
        p_cotangent[1] = p_cotangent[1] + x * k[1];
        p_cotangent[2] = p_cotangent[2] - z * k[2];
        for (int n = 0; n < 3; ++n) cotangent[n] = cotangent[n] + pulled[i][n];
        if constexpr (i > 0) pull_stages<i - 1>(states, next, pulled, cotangent, p_cotangent);
    }

    const Coefficients<Real>& c_;
    V rho_, sigma_, beta_;
};

constexpr int num_turns = 4;

/// The vectors of a block of a batch, from `lane` on.
template <class Real>
struct Block {
    const HandBatch<Real>& batch;
    std::ptrdiff_t lane;

    [[nodiscard]] std::ptrdiff_t of(int turn) const {
        return lane + turn * eddy::native_lanes<Real>;
    }
    [[nodiscard]] std::ptrdiff_t of(int n, int turn) const {
        return n * batch.num_lanes + of(turn);
    }
    [[nodiscard]] Vector<Real> rho(int turn) const { return load(batch.rho + of(turn)); }
    void load_state(Vector<Real> (&y)[num_turns][3]) const {
        for (int turn = 0; turn < num_turns; ++turn) {
            for (int n = 0; n < 3; ++n) y[turn][n] = load(batch.y + of(n, turn));
        }
    }
    void store_all(Real* target, const Vector<Real> (&x)[num_turns][3]) const {
        for (int turn = 0; turn < num_turns; ++turn) {
            for (int n = 0; n < 3; ++n) store(target + of(n, turn), x[turn][n]);
        }
    }
};

}  // namespace

template <class Real>
Real run_fma_chains(std::int64_t rounds, Real factor, Real summand) {
    using V = Vector<Real>;
    const V f = factor - V{}, s = summand - V{};
    V x[num_fma_chains];
    for (int chain = 0; chain < num_fma_chains; ++chain) x[chain] = Real(chain) - V{};
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
        for (int chain = 0; chain < num_fma_chains; ++chain) x[chain] = x[chain] * f + s;
    }
    Real sum = 0;
    for (const V& chain : x) sum += chain[0];
    return sum;
}

template <class Real>
void hand_steps(const HandBatch<Real>& batch, int num_steps, double dt) {
    const Coefficients<Real> coefficients(dt);
    for (std::ptrdiff_t lane = 0; lane < batch.num_lanes; lane += hand_block<Real>) {
        const Block<Real> block{batch, lane};
        Vector<Real> y[num_turns][3];
        block.load_state(y);
        for (int step = 0; step < num_steps; ++step) {
#pragma GCC unroll 1
            for (int turn = 0; turn < num_turns; ++turn)
                HandStep<Real>(coefficients, block.rho(turn)).advance(y[turn]);
        }
        block.store_all(batch.y, y);
    }
}

template <class Real>
void hand_gradient(const HandBatch<Real>& batch, int num_steps, double dt, Real* memory,
                   Real* p_cotangent) {
    using V = Vector<Real>;
    constexpr int width = eddy::native_lanes<Real>;
    const Coefficients<Real> coefficients(dt);
    for (std::ptrdiff_t lane = 0; lane < batch.num_lanes; lane += hand_block<Real>) {
        const Block<Real> block{batch, lane};
        V y[num_turns][3], p[num_turns][3] = {};
        block.load_state(y);
        for (int step = 0; step < num_steps; ++step) {
#pragma GCC unroll 1
            for (int turn = 0; turn < num_turns; ++turn) {
                Real* stored = memory + 3 * width * (step * num_turns + turn);
                for (int n = 0; n < 3; ++n) store(stored + n * width, y[turn][n]);
                HandStep<Real>(coefficients, block.rho(turn)).advance(y[turn]);
            }
        }
        for (auto& cotangent : y) {
            for (V& component : cotangent) component = Real(2) * component;
        }
        for (int step = num_steps; step-- > 0;) {
            // In two loops: stages and pullback of one vector are too long a chain of instructions
            // for a processor to look ahead to the next vector.
            V states[num_turns][6][3];
#pragma GCC unroll 1
            for (int turn = 0; turn < num_turns; ++turn) {
                const Real* stored = memory + 3 * width * (step * num_turns + turn);
                const V from[3] = {load(stored), load(stored + width), load(stored + 2 * width)};
                HandStep<Real>(coefficients, block.rho(turn)).compute_stages(from, states[turn]);
            }
#pragma GCC unroll 1
            for (int turn = 0; turn < num_turns; ++turn)
                HandStep<Real>(coefficients, block.rho(turn))
                    .pull_back(states[turn], y[turn], p[turn]);
        }
        block.store_all(batch.y, y);
        block.store_all(p_cotangent, p);
    }
}

template double run_fma_chains(std::int64_t, double, double);
template float run_fma_chains(std::int64_t, float, float);
template void hand_steps(const HandBatch<double>&, int, double);
template void hand_steps(const HandBatch<float>&, int, double);
template void hand_gradient(const HandBatch<double>&, int, double, double*, double*);
template void hand_gradient(const HandBatch<float>&, int, double, float*, float*);

}  // namespace benchmark
