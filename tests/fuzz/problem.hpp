#pragma once
// What the fuzzer knows of a problem: an equation with a method, a type of number and a kind of
// parameters, behind one interface, so that invariants are written and compiled once. Everything
// goes in and comes out in doubles, which hold every float exactly: the same bits stay the same.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/core/result.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <memory>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace fuzz {

using Table = eddy::EnsembleArray<double>;  // (lane, component)
using support::Random;

/// Arguments of one call.
struct Ask {
    eddy::SolveOptions options;
    eddy::PIDController controller;
    bool serial = false;  ///< Serial instead of Cpu
    eddy::Cpu cpu{.threads = 1};
    Table y0, p;                  // p: one row where it is shared
    Table y0_tangent, p_tangent;  // of pushforward
    std::vector<Table> seeds;     // (save point): cotangents of pullback, data of a loss
};

struct SavedSteps {
    std::vector<double> t, y;  // (step), (step, component)
};

/// Everything that a call gives back.
struct Answer {
    std::string refusal;   ///< the message, where there was an exception
    bool refused = false;  ///< by InvalidArgument; any other exception passes

    std::vector<eddy::LaneStats> stats;
    std::vector<eddy::LaneFailure> ends;
    std::vector<double> times;  // (save point)
    std::vector<Table> y, tangent;
    std::vector<SavedSteps> steps;  // (lane)

    Table y0_gradient, p_gradient, t0_gradient, t1_gradient, save_gradient;
    std::vector<double> loss;  // (lane)
    double total_loss = 0;

    [[nodiscard]] std::ptrdiff_t num_lanes() const {
        return static_cast<std::ptrdiff_t>(ends.size());
    }
    [[nodiscard]] bool succeeded(std::ptrdiff_t lane) const {
        return ends[static_cast<std::size_t>(lane)].result == eddy::Result::success;
    }
};

enum class Kind { solve, pushforward, pullback, loss };
inline constexpr Kind all_kinds[] = {Kind::solve, Kind::pushforward, Kind::pullback, Kind::loss};

/// What a problem is, and which calls it was compiled for.
struct Traits {
    const char* name;
    int state_size, parameter_size;
    int num_outputs;  ///< of `observe`, or the state's
    bool single;      ///< float
    bool shared;      ///< one row of parameters
    bool adaptive;
    bool steps_to_saves;  ///< save points are stops, for want of dense output
    bool differentiates_times;
    bool observes;
    bool autonomous;  ///< f does not depend on t
    bool well_posed;  ///< smooth, and no lane's error grows by more than about e^span
    bool pushes, pulls, loses, serial_gradients;
};

class Problem {
  public:
    virtual ~Problem() = default;
    [[nodiscard]] virtual const Traits& traits() const = 0;

    /// Starting values and parameters of one lane: where the equation is at home, mostly.
    virtual void make_lane(Random& random, double* y0, double* p) const = 0;

    /// The call, by a solver object that was first called with the arrays of `before` where the
    /// call has one. Of a kind that the problem was not compiled for: nothing, refused.
    [[nodiscard]] virtual Answer call(Kind kind, const Ask& ask,
                                      const std::vector<Ask>& before = {}) const = 0;

    [[nodiscard]] bool offers(Kind kind, bool serial) const {
        const Traits& is = traits();
        if (kind == Kind::solve) return true;
        if (serial != is.serial_gradients) return false;
        return kind == Kind::pushforward ? is.pushes : kind == Kind::pullback ? is.pulls : is.loses;
    }
};

/// All problems of the fuzzer.
[[nodiscard]] const std::vector<std::unique_ptr<Problem>>& problems();

// One list for each source file that compiles some.
using ProblemList = std::vector<std::unique_ptr<Problem>>;
void add_smooth_problems(ProblemList& list);
void add_failing_problems(ProblemList& list);
void add_switching_problems(ProblemList& list);
void add_wide_problems(ProblemList& list);
void add_random_problems(ProblemList& list);

}  // namespace fuzz
