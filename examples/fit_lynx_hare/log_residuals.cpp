#include "log_residuals.hpp"

#include <limits>

#include "model.hpp"

namespace lynx_hare {

namespace {

constexpr double hopeless = 1e3;  // of a residual between two logarithms

/// One lane or six on the calling thread, again and again in the same memory.
auto small_solver(const eddy::SolveOptions& options) {
    return eddy::ensemble_solver(LotkaVolterra{}, eddy::Tsit5{}, options, eddy::Cpu{.threads = 1},
                                 eddy::observe(LogCounts{}));
}

}  // namespace

struct LogResiduals::Solvers {
    explicit Solvers(const eddy::SolveOptions& options)
        : trajectory(small_solver(options)), tangents(small_solver(options)) {}

    decltype(small_solver({})) trajectory, tangents;
};

LogResiduals::LogResiduals(const Counts& counts, double rtol)
    : log_counts_(log_counts(counts)),
      solvers_(std::make_unique<Solvers>(options_at_years(counts, rtol))) {}

LogResiduals::~LogResiduals() = default;

int LogResiduals::operator()(const Eigen::VectorXd& unknowns, Eigen::VectorXd& residuals) {
    ++num_solves_;
    residuals.setConstant(values(), hopeless);
    if (!in_range(unknowns)) return 0;
    const UnknownsArray lane = unknowns.transpose();
    const auto& solution = solvers_->trajectory(first_counts(lane), rates(lane));
    count_steps(solution);
    if (!solution.success()) return 0;
    for (int k = 0; k < solution.num_saves(); ++k) {
        for (int i = 0; i < 2; ++i) residuals[2 * k + i] = solution.y(k)(0, i) - log_counts_(k, i);
    }
    if (!residuals.allFinite()) residuals.setConstant(hopeless);
    return 0;
}

int LogResiduals::df(const Eigen::VectorXd& unknowns, Eigen::MatrixXd& jacobian) {
    ++num_jacobians_;
    if (!in_range(unknowns)) return -1;
    const Directions lanes(unknowns);
    const auto& pushed = solvers_->tangents(lanes.y0, lanes.p, lanes.y0_tangent, lanes.p_tangent);
    count_steps(pushed);
    if (!pushed.success()) return -1;

    jacobian.resize(values(), num_unknowns);
    for (int k = 0; k < pushed.num_saves(); ++k) {
        const Eigen::MatrixXd tangents = pushed.tangent(k);  // (unknown, species)
        jacobian.middleRows(2 * k, 2) = tangents.transpose();
    }
    return jacobian.allFinite() ? 0 : -1;
}

void LogResiduals::count_steps(const eddy::Outcomes& outcomes) {
    const eddy::LaneStats total = outcomes.total_stats();
    steps_.accepted += total.accepted;
    steps_.rejected += total.rejected;
    steps_.evaluations += total.evaluations;
}

Linearised::Linearised(LogResiduals& function, const Eigen::VectorXd& unknowns) {
    function(unknowns, residuals);
    if (function.df(unknowns, jacobian) < 0) {
        jacobian.setConstant(residuals.size(), num_unknowns,
                             std::numeric_limits<double>::quiet_NaN());
    }
}

}  // namespace lynx_hare
