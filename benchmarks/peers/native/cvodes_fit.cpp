// The fit of case 11 with CVODES: forward sensitivities of the six unknowns for the Jacobian, in the same optimiser as eddy's.

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <Eigen/Core>
#include <unsupported/Eigen/NonLinearOptimization>

#include "../../../examples/fit_lynx_hare/counts.hpp"
#include "../../../examples/fit_lynx_hare/starts.hpp"
#include "arm.hpp"
#include "fit.hpp"

namespace {

using namespace peers;
using lynx_hare::num_unknowns;

/// y = (hare, lynx), p = (a, b, c, d).
int field(realtype, N_Vector y, N_Vector dy, void* user) {
    const double *p = static_cast<const double*>(user), *x = N_VGetArrayPointer(y);
    double* dx = N_VGetArrayPointer(dy);
    dx[0] = p[0] * x[0] - p[1] * x[0] * x[1];
    dx[1] = p[3] * x[0] * x[1] - p[2] * x[1];
    return 0;
}

/// Along unknown i, the logarithm of p_i or of a first count.
int sensitivity(int, realtype, N_Vector y, N_Vector, int i, N_Vector s, N_Vector ds, void* user,
                N_Vector, N_Vector) {
    const double *p = static_cast<const double*>(user), *x = N_VGetArrayPointer(y),
                 *v = N_VGetArrayPointer(s);
    double* dv = N_VGetArrayPointer(ds);
    const double product = x[0] * x[1];
    dv[0] = (p[0] - p[1] * x[1]) * v[0] - p[1] * x[0] * v[1];
    dv[1] = p[3] * x[1] * v[0] + (p[3] * x[0] - p[2]) * v[1];
    if (i == 0) dv[0] += p[0] * x[0];
    if (i == 1) dv[0] -= p[1] * product;
    if (i == 2) dv[1] -= p[2] * x[1];
    if (i == 3) dv[1] += p[3] * product;
    return 0;
}

/// Adams' method with fixed-point iteration; memory made once.
class Trajectory {
  public:
    Trajectory() {
        SUNContext_Create(nullptr, &context_);
        y_ = N_VNew_Serial(2, context_);
        N_VConst(1, y_);
        s_ = N_VCloneVectorArray(num_unknowns, y_);
        for (int i = 0; i < num_unknowns; ++i) N_VConst(0, s_[i]);
        memory_ = CVodeCreate(CV_ADAMS, context_);
        CVodeInit(memory_, field, 0, y_);
        CVodeSStolerances(memory_, tolerance, tolerance);
        CVodeSetMaxNumSteps(memory_, 100'000);
        CVodeSetUserData(memory_, p_);
        solver_ = SUNNonlinSol_FixedPoint(y_, 0, context_);
        CVodeSetNonlinearSolver(memory_, solver_);
        CVodeSensInit1(memory_, num_unknowns, CV_STAGGERED, sensitivity, s_);
        double absolute[num_unknowns];
        std::fill_n(absolute, num_unknowns, tolerance);
        CVodeSensSStolerances(memory_, tolerance, absolute);
        CVodeSetSensErrCon(memory_, SUNFALSE);
        sensitivity_solver_ = SUNNonlinSol_FixedPointSens(num_unknowns, y_, 0, context_);
        CVodeSetNonlinearSolverSensStg(memory_, sensitivity_solver_);
        be_quiet();
    }
    ~Trajectory() {
        CVodeFree(&memory_);
        SUNNonlinSolFree(solver_);
        SUNNonlinSolFree(sensitivity_solver_);
        N_VDestroyVectorArray(s_, num_unknowns);
        N_VDestroy(y_);
        SUNContext_Free(&context_);
    }
    Trajectory(const Trajectory&) = delete;
    Trajectory& operator=(const Trajectory&) = delete;

    /// Calls take(year, y, sensitivities or nullptr) at each of `years`; false where there is no trajectory.
    template <class Take>
    bool run(const Eigen::VectorXd& unknowns, const std::vector<double>& years,
             bool with_sensitivities, Take take) {
        for (int i = 0; i < 4; ++i) p_[i] = std::exp(unknowns[i]);
        double* y = N_VGetArrayPointer(y_);
        for (int i = 0; i < 2; ++i) y[i] = std::exp(unknowns[4 + i]);
        for (int i = 0; i < num_unknowns; ++i) {
            N_VConst(0, s_[i]);
            if (i >= 4) N_VGetArrayPointer(s_[i])[i - 4] = y[i - 4];
        }
        CVodeReInit(memory_, years[0], y_);
        if (with_sensitivities) {
            CVodeSensReInit(memory_, CV_STAGGERED, s_);
        } else {
            CVodeSensToggleOff(memory_);
        }
        take(0, y, s_);
        for (std::size_t k = 1; k < years.size(); ++k) {
            double t = 0;
            if (CVode(memory_, years[k], y_, &t, CV_NORMAL) < 0) return false;
            if (with_sensitivities) CVodeGetSens(memory_, &t, s_);
            take(static_cast<int>(k), y, s_);
        }
        return true;
    }

  private:
    static constexpr double tolerance = 1e-8;
    void be_quiet() {
        CVodeSetErrHandlerFn(
            memory_, [](int, const char*, const char*, char*, void*) {}, nullptr);
    }

    SUNContext context_ = nullptr;
    N_Vector y_ = nullptr;
    N_Vector* s_ = nullptr;
    void* memory_ = nullptr;
    SUNNonlinearSolver solver_ = nullptr, sensitivity_solver_ = nullptr;
    double p_[4] = {1, 1, 1, 1};
};

/// As Eigen's LevenbergMarquardt asks for it; see examples/fit_lynx_hare/log_residuals.hpp.
class Residuals {
  public:
    using Scalar = double;

    explicit Residuals(const lynx_hare::Counts& counts) : counts_(counts) {}
    [[nodiscard]] int values() const { return 2 * counts_.num_rows(); }
    int operator()(const Eigen::VectorXd& unknowns, Eigen::VectorXd& residuals) {
        residuals.setConstant(values(), hopeless);
        if (!lynx_hare::in_range(unknowns)) return 0;
        const bool good =
            trajectory_.run(unknowns, counts_.year, false, [&](int k, const double* y, N_Vector*) {
                residuals[2 * k] =
                    std::log(y[0]) - std::log(counts_.hare[static_cast<std::size_t>(k)]);
                residuals[2 * k + 1] =
                    std::log(y[1]) - std::log(counts_.lynx[static_cast<std::size_t>(k)]);
            });
        if (!good || !residuals.allFinite()) residuals.setConstant(hopeless);
        return 0;
    }
    int df(const Eigen::VectorXd& unknowns, Eigen::MatrixXd& jacobian) {
        if (!lynx_hare::in_range(unknowns)) return -1;
        jacobian.resize(values(), num_unknowns);
        const bool good =
            trajectory_.run(unknowns, counts_.year, true, [&](int k, const double* y, N_Vector* s) {
                for (int i = 0; i < num_unknowns; ++i) {
                    for (int j = 0; j < 2; ++j)
                        jacobian(2 * k + j, i) = N_VGetArrayPointer(s[i])[j] / y[j];
                }
            });
        return good && jacobian.allFinite() ? 0 : -1;
    }

  private:
    static constexpr double hopeless = 1e3;
    const lynx_hare::Counts& counts_;
    Trajectory trajectory_;
};

class CvodesFit : public Arm {
  public:
    explicit CvodesFit(const Options& options)
        : check_(options.integer("check")),
          counts_(lynx_hare::read_counts(LYNX_HARE_COUNTS)),
          starts_(every(lynx_hare::starting_points(counts_, options.integer("lanes")),
                        options.integer("stride", 1))),
          residuals_(counts_) {}
    [[nodiscard]] std::string setting() const override {
        return "Adams, fixed-point iteration, staggered forward sensitivities by hand, rtol = atol "
               "= 1e-8, Eigen's LevenbergMarquardt";
    }
    Counts run() override {
        found_ = {};
        for (Eigen::Index start = 0; start < starts_.rows(); ++start)
            found_.add(refine(starts_.row(start)));
        return {};
    }
    [[nodiscard]] std::string more() const override { return found_.text(); }
    [[nodiscard]] std::vector<double> values() const override { return found_.values(check_); }

  private:
    /// The settings of examples/fit_lynx_hare/refine.cpp.
    double refine(Eigen::VectorXd unknowns) {
        using namespace Eigen::LevenbergMarquardtSpace;
        Eigen::LevenbergMarquardt<Residuals> optimiser(residuals_);
        optimiser.parameters.ftol = 1e-10;
        optimiser.parameters.xtol = 1e-10;
        optimiser.parameters.maxfev = 1000;
        Status status = optimiser.minimize(unknowns);
        for (int again = 0; again < 3 && status == RelativeErrorTooSmall; ++again)
            status = optimiser.minimize(unknowns);
        return optimiser.fnorm * optimiser.fnorm;
    }

    int check_;
    lynx_hare::Counts counts_;
    lynx_hare::UnknownsArray starts_;
    Residuals residuals_;
    Found found_;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<CvodesFit>(options);
    });
}
