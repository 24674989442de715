#include "fuzz/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "fuzz/extremes.hpp"

namespace fuzz {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Times within the span, in the order of integration; some twice, some at the ends.
std::vector<double> random_times(Random& random, double t0, double t1, int count) {
    std::vector<double> times;
    const double low = std::min(t0, t1), high = std::max(t0, t1);
    for (int k = 0; k < count; ++k) {
        double t = t0 + (t1 - t0) * random.uniform(0, 1);
        if (random.one_in(8)) t = t0;
        if (random.one_in(8)) t = t1;
        if (!times.empty() && random.one_in(8)) t = times.back();
        times.push_back(std::clamp(t, low, high));
    }
    std::sort(times.begin(), times.end());
    if (t1 < t0) std::reverse(times.begin(), times.end());
    return times;
}

/// A number between two powers of ten.
double power_of_ten(Random& random, double low, double high) {
    return std::pow(10, random.uniform(low, high));
}

void choose_times(Random& random, eddy::SolveOptions& options) {
    constexpr double starts[] = {0, 0, 0, 1, -3, 1e9, -1e-9};
    options.t0 = random.one_in(3) ? random.uniform(-5, 5) : random.pick(starts);
    double span = random.one_in(6) ? power_of_ten(random, -12, 1.5) : random.uniform(0.1, 3);
    if (random.one_in(30)) span = 0;
    options.t1 = options.t0 + (random.one_in(3) ? -span : span);
    if (random.one_in(2)) {
        const int count = random.one_in(20) ? 50 : 1 + random.below(6);
        options.save_at = random_times(random, options.t0, options.t1, count);
    }
    if (random.one_in(4))
        options.step_to = random_times(random, options.t0, options.t1, 1 + random.below(5));
    if (random.one_in(6))
        options.jump_times = random_times(random, options.t0, options.t1, 1 + random.below(3));
}

void choose_sizes(Random& random, const Traits& traits, eddy::SolveOptions& options) {
    const double span = options.t1 - options.t0;
    if (!traits.adaptive) options.dt0 = span / random.uniform(0.7, 200);
    if (traits.adaptive && random.one_in(4)) options.dt0 = span / random.uniform(1, 1000);
    // An empty quotient, or the smallest numbers.
    if (options.dt0 == 0 && span == 0) options.dt0 = random.one_in(2) ? 0 : 0.1;
    if (random.one_in(10)) options.dt_min = std::fabs(span) / random.uniform(10, 1e6);
    if (random.one_in(6) && span != 0)
        options.dt_max = std::max(options.dt_min, std::fabs(span) / random.uniform(1, 300));
    constexpr std::int64_t limits[] = {1, 2, 3, 10, 100, 1000};
    options.max_steps = random.one_in(4) ? random.pick(limits) : 1000;
}

void choose_tolerances(Random& random, const Traits& traits, eddy::SolveOptions& options) {
    options.rtol = power_of_ten(random, traits.single ? -5.5 : -11, -2);
    const auto one = [&] { return random.one_in(5) ? 0 : power_of_ten(random, -13, -2); };
    options.atol = one();
    if (random.one_in(4)) {
        std::vector<double> each;
        for (int i = 0; i < traits.state_size; ++i) each.push_back(one());
        options.atol = each;
    }
}

void choose_memory(Random& random, eddy::SolveOptions& options) {
    constexpr std::size_t budgets[] = {
        0, 1, 1000, 10'000, 100'000, 1 << 20, std::size_t{1} << 40, SIZE_MAX};
    if (random.one_in(3)) options.memory_budget = random.pick(budgets);
    constexpr std::int64_t counts[] = {1, 1, 2, 3, 5, 10, 100, 100'000};
    if (random.one_in(3)) options.checkpoints = random.pick(counts);
}

void choose_controller(Random& random, eddy::PIDController& controller) {
    if (random.one_in(2)) return;
    constexpr eddy::PIDController known[] = {eddy::i_controller(), eddy::pi_controller(),
                                             eddy::pid_controller()};
    controller = random.pick(known);
    if (random.one_in(2)) {
        controller.safety = random.uniform(0.7, 0.98);
        controller.min_factor = random.uniform(0.05, 0.6);
        controller.max_factor = random.uniform(1, 20);
    }
}

std::ptrdiff_t random_lanes(Random& random) {
    if (random.one_in(40)) return 0;
    if (random.one_in(40)) return 200 + random.below(400);
    return random.one_in(3) ? 1 + random.below(3) : 1 + random.below(40);
}

/// Few checkpoints make the way back quadratic: then it must not be long.
void bound_work(Scenario& scenario) {
    auto& options = scenario.ask.options;
    const bool little =
        (options.checkpoints > 0 && options.checkpoints < 10) || options.memory_budget < 100'000;
    if (little && scenario.kind != Kind::solve)
        options.max_steps = std::min<std::int64_t>(options.max_steps, 100);
}

/// One thing that is wrong.
struct Mistake {
    const char* words;
    bool (*applies)(const Scenario&);
    void (*make)(Random&, Ask&);
};

bool always(const Scenario&) { return true; }
bool is_adaptive(const Scenario& s) { return s.problem->traits().adaptive; }
bool takes_seeds(const Scenario& s) { return s.kind == Kind::pullback || s.kind == Kind::loss; }
bool takes_tangents(const Scenario& s) { return s.kind == Kind::pushforward; }
bool has_lanes(const Scenario& s) { return s.ask.y0.rows() > 0; }

const Mistake mistakes[] = {
    {"rtol = 0", always, [](Random&, Ask& a) { a.options.rtol = 0; }},
    {"rtol is NaN", always, [](Random&, Ask& a) { a.options.rtol = not_a_number; }},
    {"rtol < 0", always, [](Random&, Ask& a) { a.options.rtol = -1e-6; }},
    {"atol < 0", always, [](Random&, Ask& a) { a.options.atol = -1e-300; }},
    {"atol is NaN", always, [](Random&, Ask& a) { a.options.atol = not_a_number; }},
    {"atol of another size", always,
     [](Random&, Ask& a) { a.options.atol = std::vector<double>(99, 1e-6); }},
    {"no t1", always, [](Random&, Ask& a) { a.options.t1 = not_a_number; }},
    {"t1 infinite", always, [](Random&, Ask& a) { a.options.t1 = infinity; }},
    {"t0 is NaN", always, [](Random&, Ask& a) { a.options.t0 = not_a_number; }},
    {"save_at outside", always, [](Random&, Ask& a) { a.options.save_at = {1e10}; }},
    {"save_at is NaN", always, [](Random&, Ask& a) { a.options.save_at = {not_a_number}; }},
    {"step_to out of order", [](const Scenario& s) { return s.ask.options.t0 != s.ask.options.t1; },
     [](Random&, Ask& a) {
         a.options.step_to = {a.options.t1, a.options.t0};
     }},
    {"jump_times outside", always, [](Random&, Ask& a) { a.options.jump_times = {-1e10}; }},
    {"dt0 points away", [](const Scenario& s) { return s.ask.options.t0 != s.ask.options.t1; },
     [](Random&, Ask& a) { a.options.dt0 = (a.options.t0 - a.options.t1) / 10; }},
    {"dt0 is NaN", always, [](Random&, Ask& a) { a.options.dt0 = not_a_number; }},
    {"dt_min < 0", always, [](Random&, Ask& a) { a.options.dt_min = -1e-3; }},
    {"dt_max = 0", always, [](Random&, Ask& a) { a.options.dt_max = 0; }},
    {"dt_max < dt_min", always,
     [](Random&, Ask& a) { a.options.dt_min = 1, a.options.dt_max = 0.5; }},
    {"max_steps = 0", always, [](Random&, Ask& a) { a.options.max_steps = 0; }},
    {"checkpoints < 0", always, [](Random&, Ask& a) { a.options.checkpoints = -1; }},
    {"safety = 1", is_adaptive, [](Random&, Ask& a) { a.controller.safety = 1; }},
    {"min_factor = 0", is_adaptive, [](Random&, Ask& a) { a.controller.min_factor = 0; }},
    {"max_factor < 1", is_adaptive, [](Random&, Ask& a) { a.controller.max_factor = 0.5; }},
    {"icoeff is NaN", is_adaptive, [](Random&, Ask& a) { a.controller.icoeff = not_a_number; }},
    {"threads < 0", [](const Scenario& s) { return !s.ask.serial; },
     [](Random&, Ask& a) { a.cpu.threads = -1; }},
    {"y0 of another width", always,
     [](Random&, Ask& a) { a.y0 = Table(a.y0.rows(), a.y0.cols() + 1); }},
    {"y0 is NaN", has_lanes,
     [](Random& random, Ask& a) {
         a.y0(random.below(static_cast<int>(a.y0.rows())), 0) = not_a_number;
     }},
    {"p with a row too many",
     [](const Scenario& s) { return s.problem->traits().parameter_size > 0; },
     [](Random&, Ask& a) { a.p = Table(a.p.rows() + 2, a.p.cols(), 1); }},
    {"p infinite", [](const Scenario& s) { return s.ask.p.rows() * s.ask.p.cols() > 0; },
     [](Random&, Ask& a) { a.p(a.p.rows() - 1, 0) = infinity; }},
    {"a tangent of another width", takes_tangents,
     [](Random&, Ask& a) { a.y0_tangent = Table(a.y0.rows(), a.y0.cols() + 1); }},
    {"a tangent infinite", [](const Scenario& s) { return takes_tangents(s) && has_lanes(s); },
     [](Random&, Ask& a) { a.y0_tangent(0, 0) = -infinity; }},
    {"seeds for a save point too many", takes_seeds,
     [](Random&, Ask& a) { a.seeds.push_back(a.seeds.front()); }},
    {"seeds of another width", takes_seeds,
     [](Random&, Ask& a) { a.seeds.back() = Table(a.y0.rows(), a.seeds.back().cols() + 1); }},
    {"a seed is NaN", [](const Scenario& s) { return takes_seeds(s) && has_lanes(s); },
     [](Random&, Ask& a) { a.seeds.back()(0, 0) = not_a_number; }},
    {"save_steps with a loss", [](const Scenario& s) { return s.kind == Kind::loss; },
     [](Random&, Ask& a) { a.options.save_steps = true; }},
};

void make_mistake(Random& random, Scenario& scenario) {
    for (;;) {
        const Mistake& mistake = random.pick(mistakes);
        if (!mistake.applies(scenario)) continue;
        mistake.make(random, scenario.ask);
        scenario.changed = mistake.words;
        scenario.expectation = Expectation::refused;
        return;
    }
}

template <class Struct>
void take_extreme(Random& random, const char* name, Struct& options, Scenario& scenario) {
    const auto extremes = all_extremes(options);
    const auto& changed = random.pick(extremes);
    options = changed.value;
    scenario.changed = std::string(name) + ", " + changed.text;
    scenario.expectation = Expectation::either;
}

void make_extreme(Random& random, Scenario& scenario) {
    const int kind = random.below(6);
    if (kind == 0 && scenario.problem->traits().adaptive) {
        take_extreme(random, "controller", scenario.ask.controller, scenario);
    } else if (kind == 1 && !scenario.ask.serial) {
        take_extreme(random, "Cpu", scenario.ask.cpu, scenario);
    } else {
        take_extreme(random, "options", scenario.ask.options, scenario);
        Ask& ask = scenario.ask;
        ask.options.tangents_in_error_norm = false;  // its steps are not those of a solve
        // Another number of save points wants other seeds.
        fill_lanes(*scenario.problem, scenario.kind, random, ask.y0.rows(), ask);
    }
}

}  // namespace

Ask random_ask(const Problem& problem, Random& random) {
    Ask ask;
    choose_times(random, ask.options);
    choose_sizes(random, problem.traits(), ask.options);
    choose_tolerances(random, problem.traits(), ask.options);
    choose_memory(random, ask.options);
    choose_controller(random, ask.controller);
    ask.serial = random.one_in(2);
    ask.cpu.threads = 1 + random.below(2);
    ask.options.stable_gradients = random.one_in(2);
    return ask;
}

void fill_lanes(const Problem& problem, Kind kind, Random& random, std::ptrdiff_t lanes, Ask& ask) {
    const Traits& is = problem.traits();
    const auto rounded = [&](double x) { return is.single ? static_cast<float>(x) : x; };
    const auto filled = [&](std::ptrdiff_t rows, std::ptrdiff_t columns) {
        Table table(rows, columns);
        for (std::ptrdiff_t i = 0; i < rows * columns; ++i)
            table.data()[i] = rounded(random.uniform(-1, 1));
        return table;
    };
    ask.y0 = Table(lanes, is.state_size);
    ask.p = Table(is.shared ? 1 : lanes, is.parameter_size);
    std::vector<double> y0(static_cast<std::size_t>(is.state_size)),
        p(static_cast<std::size_t>(is.parameter_size) + 1);
    for (std::ptrdiff_t lane = 0; lane < std::max<std::ptrdiff_t>(lanes, 1); ++lane) {
        problem.make_lane(random, y0.data(), p.data());
        if (lane < lanes) {
            for (int i = 0; i < is.state_size; ++i)
                ask.y0(lane, i) = y0[static_cast<std::size_t>(i)];
        }
        if (lane < ask.p.rows()) {
            for (int i = 0; i < is.parameter_size; ++i)
                ask.p(lane, i) = p[static_cast<std::size_t>(i)];
        }
    }
    ask.y0_tangent = filled(lanes, is.state_size);
    ask.p_tangent = filled(ask.p.rows(), is.parameter_size);
    ask.seeds.clear();
    const std::size_t saves = std::max<std::size_t>(1, ask.options.save_at.values.size());
    const std::ptrdiff_t width = kind == Kind::loss ? is.state_size : is.num_outputs;
    for (std::size_t k = 0; k < saves; ++k) ask.seeds.push_back(filled(lanes, width));
}

Scenario random_scenario(std::uint64_t seed) {
    Random random(seed);
    Scenario scenario;
    scenario.problem = random.pick(problems()).get();
    scenario.ask = random_ask(*scenario.problem, random);
    do {
        scenario.kind = random.pick(all_kinds);
        if (scenario.kind != Kind::solve)
            scenario.ask.serial = scenario.problem->traits().serial_gradients;
    } while (!scenario.problem->offers(scenario.kind, scenario.ask.serial));
    if (scenario.kind == Kind::solve && random.one_in(5)) scenario.ask.options.save_steps = true;
    bound_work(scenario);
    fill_lanes(*scenario.problem, scenario.kind, random, random_lanes(random), scenario.ask);
    if (random.one_in(40)) {
        std::stop_source source;
        source.request_stop();
        scenario.ask.options.cancelled = source.get_token();
    }
    if (random.one_in(8)) {
        make_mistake(random, scenario);
    } else if (random.one_in(6)) {
        make_extreme(random, scenario);
    }
    return scenario;
}

const char* name_of(Kind kind) {
    constexpr const char* names[] = {"solve", "pushforward", "pullback", "value_and_gradient"};
    return names[static_cast<int>(kind)];
}

std::string describe(const Scenario& scenario) {
    const auto& options = scenario.ask.options;
    std::ostringstream out;
    out.precision(17);
    const auto list = [&](const char* name, const std::vector<double>& values) {
        if (values.empty()) return;
        out << ' ' << name << " = {";
        for (std::size_t k = 0; k < std::min<std::size_t>(values.size(), 8); ++k)
            out << (k == 0 ? "" : ", ") << values[k];
        out << (values.size() > 8 ? ", ...}" : "}");
    };
    out << name_of(scenario.kind) << " of " << scenario.problem->traits().name << " on ";
    if (scenario.ask.serial) {
        out << "Serial";
    } else {
        out << "Cpu{" << scenario.ask.cpu.threads << '}';
    }
    out << ", " << scenario.ask.y0.rows() << " lanes, t0 = " << options.t0 << " t1 = " << options.t1
        << " rtol = " << options.rtol;
    list("atol", options.atol.values);
    list("save_at", options.save_at.values);
    list("step_to", options.step_to.values);
    list("jump_times", options.jump_times.values);
    out << " dt0 = " << options.dt0 << " dt_min = " << options.dt_min
        << " dt_max = " << options.dt_max << " max_steps = " << options.max_steps
        << " memory_budget = " << options.memory_budget << " checkpoints = " << options.checkpoints;
    if (options.save_steps) out << " save_steps";
    if (options.cancelled.stop_requested()) out << " cancelled";
    if (!scenario.changed.empty()) out << " [" << scenario.changed << ']';
    return out.str();
}

}  // namespace fuzz
