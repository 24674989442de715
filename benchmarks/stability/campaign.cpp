// How well gradients hold where the steps do not see them: campaign_METHOD [number of random systems]
// [seed] [silent|lanes]. For each problem of the zoo, and each random system, at three tolerances: the
// gradient as it is, the gradient with the second solve, and the truth, by small steps of Vern7 in dual numbers. The
// error of a gradient is that of its worst component, over its largest and a thousandth of the
// cotangent's, for y0 and p apart; it is off where that is above 100 rtol.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <eddy/eddy.hpp>

#include "support/stability_equations.hpp"
#include "support/stability_random.hpp"

using Array = eddy::EnsembleArray<double>;
using zoo::Lane;

namespace {

bool lists_silent = false, lists_lanes = false;

Array row(const std::vector<double>& values) {
    Array array(1, static_cast<std::ptrdiff_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
        array(0, static_cast<std::ptrdiff_t>(i)) = values[i];
    return array;
}

double error(const Array& found, const Array& truth, const Lane& lane) {
    double largest = 0, of_loss = 0, worst = 0;
    for (const double c : lane.cotangent) of_loss = std::max(of_loss, std::abs(c));
    for (std::ptrdiff_t i = 0; i < truth.cols(); ++i) {
        largest = std::max(largest, std::abs(truth(0, i)));
        const double difference = std::abs(found(0, i) - truth(0, i));
        if (!(difference <= worst)) worst = difference;  // NaN counts
    }
    return std::isnan(worst) ? INFINITY : worst / (largest + 1e-3 * of_loss);
}

/// What a campaign counts.
struct Tally {
    int runs = 0, off = 0, silent = 0, curable = 0, curable_silent = 0, explodes_silently = 0;
    int redone = 0, redone_off = 0, cured = 0, nearly = 0, lost = 0, accurate_redone = 0,
        accurate = 0;
    int marked = 0, not_stiff = 0, not_stiff_redone = 0;
    double worst_silent = 0, worst_redone = 0;

    void print(const char* name) const {
        std::printf(
            "%s: %d runs, %d off (%d curable); silent %d (%d curable), worst %.2g, of e > 1: %d\n",
            name, runs, off, curable, silent, curable_silent, worst_silent, explodes_silently);
        std::printf(
            "  redone %d (%d were off): within 100 rtol %d, within 400 %d, beyond %d (worst %.2g "
            "rtol); "
            "still marked %d\n",
            redone, redone_off, cured, nearly, lost, worst_redone, marked);
        std::printf(
            "  accurate ones redone %d of %d; accurate and not stiff (h rate < 0.5 length) %d of "
            "%d\n",
            accurate_redone, accurate, not_stiff_redone, not_stiff);
    }
};

/// The gradient that a lane should have.
template <class Field>
struct Truth {
    static constexpr int num_states = Field::state_size, num_p = Field::parameter_size;
    static constexpr int at_once = 8;  // directions
    using Part = eddy::Pack<double, at_once>;
    using Number = eddy::Dual<Part>;
    Array y0{1, num_states}, p{1, num_p};

    explicit Truth(const Lane& lane) {
        for (int first = 0; first < num_states + num_p; first += at_once) {
            const Part along = derivatives(lane, first);
            for (int k = 0; k < at_once; ++k) {
                const int i = first + k;
                if (i < num_states)
                    y0(0, i) = get_lane(along, k);
                else if (i < num_states + num_p)
                    p(0, i - num_states) = get_lane(along, k);
            }
        }
    }

  private:
    /// Those of the loss along the directions from `first` on, y0 before p.
    static Part derivatives(const Lane& lane, int first) {
        eddy::Vec<Number, num_states> y{};
        Number parameters[num_p];
        const auto make = [&](Number& x, const std::vector<double>& values, int i, int direction) {
            x = Number(Part(values[static_cast<std::size_t>(i)]), Part(0.));
            if (direction >= first && direction < first + at_once)
                set_lane(x.tangent, direction - first, 1.);
        };
        for (int i = 0; i < num_states; ++i) make(y[i], lane.y0, i, i);
        for (int i = 0; i < num_p; ++i) make(parameters[i], lane.p, i, num_states + i);
        const double steps = std::ceil(lane.t1 * lane.rate / 0.2) + 50;
        const Part size(lane.t1 / steps);
        for (double done = 0; done < steps; ++done)
            y = eddy::ExplicitRungeKutta<Field, eddy::Vern7>::step(Part(done) * size, y,
                                                                   &parameters[0], size);
        Part sum(0.);
        for (int i = 0; i < num_states; ++i)
            sum = sum + Part(lane.cotangent[static_cast<std::size_t>(i)]) * y[i].tangent;
        return sum;
    }
};

template <class Field, class Method>
void run(const Lane& lane, const Truth<Field>& truth, double rtol, Tally& tally) {
    const Array y0 = row(lane.y0), p = row(lane.p), data = row(lane.cotangent);
    const auto gradient = [&](const eddy::SolveOptions& options) {
        return eddy::value_and_gradient(Field{}, Method{}, zoo::Along{}, data, y0, p, options,
                                        eddy::Serial{});  // its marks, steps and bits are Cpu's
    };
    const auto error_of = [&](const auto& result) {
        return std::max(error(result.gradient.y0, truth.y0, lane),
                        error(result.gradient.p, truth.p, lane));
    };
    eddy::SolveOptions options{
        .t1 = lane.t1, .rtol = rtol, .atol = rtol / 1000, .max_steps = 1'000'000};
    const auto stable = gradient(options);
    options.stable_gradients = false;
    const auto plain = gradient(options);
    const double e = error_of(plain), e_stable = error_of(stable);
    const bool is_redone = stable.report.redone(0), is_marked = bool(stable.report.unreliable(0));
    const double steps = static_cast<double>(plain.report.stats(0).accepted);
    if (lists_lanes)
        std::printf("%-44s %.0e  %6.0f steps  e %8.1e  r %7.2g  %s %6.0f steps  e %8.1e%s\n",
                    lane.name.c_str(), rtol, steps, e,
                    static_cast<double>(plain.report.unreliable(0).ratio),
                    is_redone ? "redone" : "      ",
                    static_cast<double>(stable.report.stats(0).accepted), e_stable,
                    is_marked ? "  unreliable" : "");
    ++tally.runs;
    tally.marked += is_marked;
    if (is_redone) {
        ++tally.redone;
        tally.cured += e_stable <= 100 * rtol;
        tally.nearly += e_stable > 100 * rtol && e_stable <= 400 * rtol;
        tally.lost += !(e_stable <= 400 * rtol);
        tally.worst_redone = std::max(tally.worst_redone, e_stable / rtol);
    }
    if (e <= 100 * rtol) {
        ++tally.accurate;
        tally.accurate_redone += is_redone;
        const bool not_stiff = lane.t1 / steps * lane.rate < 0.5 * eddy::stability_length<Method>;
        tally.not_stiff += not_stiff;
        tally.not_stiff_redone += not_stiff && is_redone;
        return;
    }
    ++tally.off;
    tally.redone_off += is_redone;
    options.dt_max = 0.25 * eddy::stability_length<Method> / lane.rate;
    const bool is_curable = error_of(gradient(options)) <= 100 * rtol;
    tally.curable += is_curable;
    if (is_redone || is_marked) return;
    ++tally.silent;
    tally.curable_silent += is_curable;
    tally.explodes_silently += e > 1;
    if (is_curable) tally.worst_silent = std::max(tally.worst_silent, e);
    if (lists_silent)
        std::printf("  silent: %s n=%d t1 %g rate %g rtol %.0e: %g steps, e = %.2g%s\n",
                    lane.name.c_str(), Field::state_size, lane.t1, lane.rate, rtol, steps, e,
                    is_curable ? "" : " (not curable)");
}

template <class Field>
void run_all(const std::vector<Lane>& lanes, Tally& tally) {
    for (const Lane& lane : lanes) {
        const Truth<Field> truth(lane);
        for (const double rtol : {1e-4, 1e-6, 1e-8})
            run<Field, eddy::METHOD>(lane, truth, rtol, tally);
    }
}

/// y' = (−y1, −p y2) from (1, 0), p = 1 … 100: the ensemble of lanes that are off by more than 1e-3.
void run_ensemble() {
    constexpr std::ptrdiff_t num_lanes = 1000;
    Array y0(num_lanes, 2), p(num_lanes, 4), data(num_lanes, 2, 1);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        y0(lane, 0) = 1;
        p(lane, 0) = -1;
        p(lane, 3) = -(1 + 99 * static_cast<double>(lane) / (num_lanes - 1));
    }
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
        for (const bool stable : {false, true}) {
            const auto result = eddy::value_and_gradient(
                zoo::Linear<2>{}, eddy::METHOD{}, zoo::Along{}, data, y0, p,
                {.t1 = 10, .rtol = rtol, .atol = rtol / 1000, .stable_gradients = stable},
                eddy::Serial{});
            int off = 0, marked = 0, redone = 0;
            for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
                const double truth = std::exp(10 * p(lane, 3));
                off += !(std::abs(result.gradient.y0(lane, 1) - truth) <= 1e-3);
                marked += bool(result.report.unreliable(lane));
                redone += result.report.redone(lane);
            }
            std::printf(
                "ensemble, rtol %.0e, %s: %d lanes off, %d marked, %d redone, %.0f steps a lane\n",
                rtol, stable ? "stable" : "plain ", off, marked, redone,
                static_cast<double>(result.report.total_stats().accepted) / num_lanes);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int systems = argc > 1 ? std::atoi(argv[1]) : 200;
    support::Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 11);
    for (int i = 3; i < argc; ++i) {
        lists_silent = lists_silent || std::strcmp(argv[i], "silent") == 0;
        lists_lanes = lists_lanes || std::strcmp(argv[i], "lanes") == 0;
    }
    run_ensemble();
    Tally of_zoo;
    run_all<zoo::Linear<2>>(zoo::planes(), of_zoo);
    run_all<zoo::Linear<3>>(zoo::triples(), of_zoo);
    run_all<zoo::Logistic>(zoo::Logistic::lanes(), of_zoo);
    run_all<zoo::Enzyme>(zoo::Enzyme::lanes(), of_zoo);
    run_all<zoo::Robertson>(zoo::Robertson::lanes(), of_zoo);
    run_all<zoo::Heat>(zoo::Heat::lanes(), of_zoo);
    run_all<zoo::Lorenz>(zoo::Lorenz::lanes(), of_zoo);
    run_all<zoo::VanDerPol>(zoo::VanDerPol::lanes(), of_zoo);
    run_all<zoo::LotkaVolterra>(zoo::LotkaVolterra::lanes(), of_zoo);
    run_all<zoo::Brusselator>(zoo::Brusselator::lanes(), of_zoo);
    run_all<zoo::Rossler>(zoo::Rossler::lanes(), of_zoo);
    run_all<zoo::Pendulum>(zoo::Pendulum::lanes(), of_zoo);
    run_all<zoo::FitzHughNagumo>(zoo::FitzHughNagumo::lanes(), of_zoo);
    run_all<zoo::Hires>(zoo::Hires::lanes(), of_zoo);
    of_zoo.print("zoo");
    Tally of_random;
    for (int k = 0; k < systems; ++k) {
        switch (random.below(4)) {
            case 0: run_all<zoo::Linear<2>>({zoo::random_system<2>(random)}, of_random); break;
            case 1: run_all<zoo::Linear<3>>({zoo::random_system<3>(random)}, of_random); break;
            case 2: run_all<zoo::Linear<4>>({zoo::random_system<4>(random)}, of_random); break;
            default: run_all<zoo::Linear<5>>({zoo::random_system<5>(random)}, of_random);
        }
    }
    of_random.print("random systems");
}
