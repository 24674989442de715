// Boost.Odeint, one trajectory after another; with steps of constant size also on vectors of eight lanes, which its algebra takes.

#include <array>
#include <boost/numeric/odeint.hpp>

#include "arm.hpp"

namespace {

using namespace peers;
namespace odeint = boost::numeric::odeint;

typedef double Double8 __attribute__((vector_size(64)));

double end_time(const Options& options) { return options.text("problem") == "ring" ? 2 : 1; }

template <class Number>
struct Lorenz {
    static constexpr std::size_t size = 3, parameters = 3;
    using State = std::array<Number, 3>;
    std::array<Number, 3> p;
    void operator()(const State& y, State& dy, double) const {
        dy[0] = p[0] * (y[1] - y[0]);
        dy[1] = y[0] * (p[1] - y[2]) - y[1];
        dy[2] = y[0] * y[1] - p[2] * y[2];
    }
};

template <std::size_t n>
struct Ring {
    static constexpr std::size_t size = n, parameters = n + 1;
    using State = std::array<double, n>;
    std::array<double, n + 1> p;
    void operator()(const State& y, State& dy, double) const {
        for (std::size_t i = 0; i < n; ++i)
            dy[i] = (y[(i + 1) % n] - y[(i + n - 2) % n]) * y[(i + n - 1) % n] - p[i] * y[i] + p[n];
    }
};

/// Counts how often f is asked for, in a run that nobody times.
template <class Field>
struct Counted {
    Field field;
    long* calls;
    void operator()(const typename Field::State& y, typename Field::State& dy, double t) const {
        ++*calls;
        field(y, dy, t);
    }
};

template <class Field>
class Odeint : public Arm {
  public:
    using State = typename Field::State;
    using Dopri5 = odeint::runge_kutta_dopri5<State>;
    using Fehlberg78 = odeint::runge_kutta_fehlberg78<State>;

    explicit Odeint(const Options& options)
        : lanes_(options),
          method_(options.text("method")),
          t1_(end_time(options)),
          steps_(options.integer("steps")),
          ends_(static_cast<std::size_t>(lanes_.num_run())) {}
    [[nodiscard]] std::string setting() const override {
        return method_ +
               (steps_ > 0 ? ", integrate_n_steps" : ", make_controlled, integrate_adaptive") +
               ", std::array of double";
    }
    void set_tolerance(double tolerance) override {
        tolerance_ = tolerance;
        counts_.evaluations = -1;
    }
    Counts run() override {
        if (counts_.evaluations < 0) count();
        for (int lane = 0; lane < lanes_.num_run(); ++lane)
            ends_[static_cast<std::size_t>(lane)] = solve(field_of(lane), start_of(lane)).first;
        return counts_;
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(lanes_, static_cast<int>(Field::size), [&](int lane, int i) {
            return ends_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
        });
    }

  private:
    [[nodiscard]] Field field_of(int lane) const {
        Field field;
        for (std::size_t i = 0; i < Field::parameters; ++i)
            field.p[i] = lanes_.p[static_cast<std::size_t>(lane) * Field::parameters + i];
        return field;
    }
    [[nodiscard]] State start_of(int lane) const {
        State y;
        for (std::size_t i = 0; i < Field::size; ++i)
            y[i] = lanes_.y0[static_cast<std::size_t>(lane) * Field::size + i];
        return y;
    }
    template <class F>
    [[nodiscard]] std::pair<State, std::size_t> solve(const F& field, State y) const {
        if (steps_ > 0) {
            Dopri5 stepper;
            odeint::integrate_n_steps(stepper, field, y, 0., t1_ / steps_,
                                      static_cast<std::size_t>(steps_));
            return {y, static_cast<std::size_t>(steps_)};
        }
        const double first_step = 1e-3;
        const std::size_t num_steps =
            method_ == "dopri5" ? odeint::integrate_adaptive(
                                      odeint::make_controlled<Dopri5>(tolerance_, tolerance_),
                                      field, y, 0., t1_, first_step)
                                : odeint::integrate_adaptive(
                                      odeint::make_controlled<Fehlberg78>(tolerance_, tolerance_),
                                      field, y, 0., t1_, first_step);
        return {y, num_steps};
    }
    void count() {
        long calls = 0;
        counts_.accepted = 0;
        for (int lane = 0; lane < lanes_.num_run(); ++lane)
            counts_.accepted += static_cast<double>(
                solve(Counted<Field>{field_of(lane), &calls}, start_of(lane)).second);
        counts_.evaluations = static_cast<double>(calls);
    }

    Lanes lanes_;
    std::string method_;
    double t1_;
    int steps_;
    double tolerance_ = 1e-6;
    Counts counts_;
    std::vector<State> ends_;
};

class OdeintVectors : public Arm {
  public:
    using State = std::array<Double8, 3>;

    explicit OdeintVectors(const Options& options)
        : lanes_(options), steps_(options.integer("steps")), ends_(groups()) {
        if (steps_ == 0)
            throw std::runtime_error(
                "one step size for eight lanes: only with steps of constant size");
    }
    [[nodiscard]] std::string setting() const override {
        return "runge_kutta_dopri5, integrate_n_steps, std::array of GCC vectors of 8 doubles";
    }
    Counts run() override {
        for (std::size_t group = 0; group < groups(); ++group) {
            Lorenz<Double8> field;
            State y;
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    field.p[i][lane] = lanes_.p[(8 * group + lane) * 3 + i];
                    y[i][lane] = lanes_.y0[(8 * group + lane) * 3 + i];
                }
            }
            odeint::runge_kutta_dopri5<State, double> stepper;
            odeint::integrate_n_steps(stepper, field, y, 0., 1. / steps_,
                                      static_cast<std::size_t>(steps_));
            ends_[group] = y;
        }
        const double all = static_cast<double>(lanes_.num_run()) * steps_;
        return {all, 0, 6 * all + lanes_.num_run()};
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(lanes_, 3, [&](int lane, int i) {
            return ends_[static_cast<std::size_t>(lane / 8)][static_cast<std::size_t>(i)][lane % 8];
        });
    }

  private:
    [[nodiscard]] std::size_t groups() const {
        return static_cast<std::size_t>(lanes_.num_run()) / 8;
    }

    Lanes lanes_;
    int steps_;
    std::vector<State> ends_;
};

template <std::size_t... sizes>
std::unique_ptr<Arm> make_ring(const Options& options) {
    return choose("a ring of " + options.text("size"), options,
                  {{"a ring of " + std::to_string(sizes), make_arm<Odeint<Ring<sizes>>>}...});
}

std::unique_ptr<Arm> make(const Options& options) {
    if (options.text("problem") == "ring") return make_ring<PEERS_RANDOM_SIZES>(options);
    if (options.text("problem") != "lorenz")
        throw std::runtime_error("not built for " + options.text("problem"));
    if (options.text("method") == "dopri5_vector") return std::make_unique<OdeintVectors>(options);
    return std::make_unique<Odeint<Lorenz<double>>>(options);
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
