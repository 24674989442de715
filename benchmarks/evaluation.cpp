// What evaluating a program costs: ns per lane and call of f and its vector–Jacobian product, in
// packs as wide as the machine's vectors and in plain doubles, in one run. States are arrays of 256
// lanes (component, lane), parameters are shared and their cotangents summed over the lanes. The
// fastest of many repeats counts. Short programs in doubles are vectorised by the compiler itself.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <eddy/ad/vjp.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <memory>

#include "support/equations.hpp"

namespace {

constexpr int num_lanes = 256;

/// One group of lanes, as many as Real has, of a (component, lane) array.
template <class Real>
struct View {
    double* lane;
    [[gnu::always_inline]] Real operator[](int component) const {
        const double* source = lane + component * num_lanes;
        if constexpr (std::is_same_v<Real, double>) {
            return *source;
        } else {
            return Real::load(source);
        }
    }
    [[gnu::always_inline]] void set(int component, const Real& value) const {
        double* target = lane + component * num_lanes;
        if constexpr (std::is_same_v<Real, double>) {
            *target = value;
        } else {
            value.store(target);
        }
    }
};

template <class Field>
struct Batch {
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = std::max(Field::parameter_size, 1);
    double y[state_size][num_lanes], dy[state_size][num_lanes], y_cotangent[state_size][num_lanes];
    double p[parameter_size];
};

template <class Real>
constexpr int lanes_of = static_cast<int>(sizeof(Real) / sizeof(double));

template <class Real, class Field>
[[gnu::noinline]] void evaluate_field(Batch<Field>& batch) {
    for (int lane = 0; lane < num_lanes; lane += lanes_of<Real>) {
        const View<Real> y{&batch.y[0][lane]}, dy{&batch.dy[0][lane]};
        eddy::evaluate<eddy::FieldProgram<Field>, Real>(
            [&]<int output>(int component, const Real& value)
                __attribute__((always_inline)) { dy.set(component, value); },
            Real(0), y, batch.p);
    }
}

template <class Real, class Field>
[[gnu::noinline]] void evaluate_pullback(Batch<Field>& batch) {
    using Pullback = decltype(eddy::vjp<1, 2>(eddy::FieldProgram<Field>{}));
    static Real p_cotangent[Batch<Field>::parameter_size];
    for (int lane = 0; lane < num_lanes; lane += lanes_of<Real>) {
        const View<Real> y{&batch.y[0][lane]}, cotangent{&batch.dy[0][lane]},
            y_cotangent{&batch.y_cotangent[0][lane]};
        eddy::evaluate<Pullback, Real>(
            [&]<int output>(int component, const Real& value) __attribute__((always_inline)) {
                if constexpr (output == 0) {
                    y_cotangent.set(component, value);
                } else {
                    p_cotangent[component] = p_cotangent[component] + value;
                }
            },
            Real(0), y, batch.p, cotangent);
    }
}

/// Nanoseconds per lane: the fastest of 200 calls, or of as many as fit in half a second.
template <class Field>
double time_per_lane(void (*evaluate)(Batch<Field>&), Batch<Field>& batch) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    double fastest = 1e30;
    for (int repeat = 0; repeat < 200; ++repeat) {
        const auto start = Clock::now();
        evaluate(batch);
        const auto end = Clock::now();
        const std::chrono::duration<double, std::nano> elapsed = end - start;
        fastest = std::min(fastest, elapsed.count() / num_lanes);
        if (end - begin > std::chrono::milliseconds(500)) break;
    }
    return fastest;
}

template <class Field>
void compare(const char* name) {
    using Pack = eddy::Pack<double, eddy::native_lanes<double>>;
    const auto batch = std::make_unique<Batch<Field>>();
    for (int lane = 0; lane < num_lanes; ++lane) {
        for (int i = 0; i < Field::state_size; ++i) batch->y[i][lane] = i + 0.001 * lane;
    }
    for (int i = 0; i < Field::parameter_size; ++i) batch->p[i] = 0.01 * (i % 17 - 8);
    const auto print = [&](const char* what, double scalar, double pack) {
        std::printf("%-9s %-4s %10.2f %10.2f %7.2f\n", name, what, scalar, pack, scalar / pack);
    };
    print("f", time_per_lane<Field>(&evaluate_field<double, Field>, *batch),
          time_per_lane<Field>(&evaluate_field<Pack, Field>, *batch));
    print("VJP", time_per_lane<Field>(&evaluate_pullback<double, Field>, *batch),
          time_per_lane<Field>(&evaluate_pullback<Pack, Field>, *batch));
}

}  // namespace

int main() {
    std::printf("ns per lane and call; packs of %d doubles\n", eddy::native_lanes<double>);
    std::printf("equation          double       pack   ratio\n");
    compare<support::Lorenz>("Lorenz");
    compare<support::Pleiades>("Pleiades");
    compare<support::Mlp>("MLP");
}
