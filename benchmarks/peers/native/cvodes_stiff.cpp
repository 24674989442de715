// CVODES on stiff equations: BDF with the exact Jacobian and a dense factorisation; of gradients its adjoint, forward steps kept
// and interpolated, with quadratures for the parameters. Memory and solvers are made once for each tolerance.

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "arm.hpp"
#include "stiff_field.hpp"

namespace {

using namespace peers;

void check(int status, const char* call) {
    if (status < 0)
        throw std::runtime_error(std::string(call) + " failed with " + std::to_string(status));
}

/// What CVODES calls back.
template <class Field>
struct Callbacks {
    static const StiffField<Field>& field(void* user) {
        return *static_cast<const StiffField<Field>*>(user);
    }
    static int derivative(realtype, N_Vector y, N_Vector dy, void* user) {
        field(user).derivative(N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
        return 0;
    }
    static int jacobian(realtype, N_Vector y, N_Vector, SUNMatrix matrix, void* user, N_Vector,
                        N_Vector, N_Vector) {
        SUNMatZero(matrix);
        field(user).jacobian(N_VGetArrayPointer(y), [&](int row, int column, double value) {
            SM_ELEMENT_D(matrix, row, column) = value;
        });
        return 0;
    }
    static int adjoint(realtype, N_Vector y, N_Vector lambda, N_Vector d_lambda, void* user) {
        field(user).adjoint(N_VGetArrayPointer(y), N_VGetArrayPointer(lambda),
                            N_VGetArrayPointer(d_lambda));
        return 0;
    }
    static int adjoint_jacobian(realtype, N_Vector y, N_Vector, N_Vector, SUNMatrix matrix,
                                void* user, N_Vector, N_Vector, N_Vector) {
        SUNMatZero(matrix);
        field(user).jacobian(N_VGetArrayPointer(y), [&](int row, int column, double value) {
            SM_ELEMENT_D(matrix, column, row) = -value;
        });
        return 0;
    }
    static int quadrature(realtype, N_Vector y, N_Vector lambda, N_Vector rate, void* user) {
        field(user).adjoint_of_parameters(N_VGetArrayPointer(y), N_VGetArrayPointer(lambda),
                                          N_VGetArrayPointer(rate));
        return 0;
    }
};

/// A matrix with the linear solver that factors it.
class Dense {
  public:
    Dense(N_Vector y, SUNContext context)
        : matrix(SUNDenseMatrix(NV_LENGTH_S(y), NV_LENGTH_S(y), context)),
          solver(SUNLinSol_Dense(y, matrix, context)) {}
    ~Dense() {
        SUNLinSolFree(solver);
        SUNMatDestroy(matrix);
    }
    Dense(const Dense&) = delete;
    Dense& operator=(const Dense&) = delete;

    SUNMatrix matrix;
    SUNLinearSolver solver;
};

struct Tolerances {
    double rtol, atol;
};

/// CVODES' memory for one trajectory after another.
template <class Field>
class Session {
    using Calls = Callbacks<Field>;

  public:
    Session(Tolerances tolerances, double t1, bool with_gradient)
        : tolerances_(tolerances), t1_(t1), with_gradient_(with_gradient) {
        check(SUNContext_Create(nullptr, &context_), "SUNContext_Create");
        y_ = N_VNew_Serial(Field::state_size, context_);
        lambda_ = N_VNew_Serial(Field::state_size, context_);
        quadratures_ = N_VNew_Serial(Field::parameter_size, context_);
        N_VConst(1, y_);
        N_VConst(0, quadratures_);
        memory_ = CVodeCreate(CV_BDF, context_);
        begin_forward();
    }
    ~Session() {
        CVodeFree(&memory_);
        forward_.reset();
        backward_.reset();
        N_VDestroy(quadratures_);
        N_VDestroy(lambda_);
        N_VDestroy(y_);
        SUNContext_Free(&context_);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// y(t1); its steps go to `counts`.
    const double* solve(const double* y0, const double* p, Counts& counts) {
        for (int i = 0; i < Field::state_size; ++i) NV_Ith_S(y_, i) = y0[i];
        for (int i = 0; i < Field::parameter_size; ++i) field_.p[i] = p[i];
        check(CVodeReInit(memory_, 0, y_), "CVodeReInit");
        double t = 0;
        if (with_gradient_) {
            int checkpoints = 0;
            if (is_adjoint_ready_) check(CVodeAdjReInit(memory_), "CVodeAdjReInit");
            check(CVodeF(memory_, t1_, y_, &t, CV_NORMAL, &checkpoints), "CVodeF");
        } else {
            check(CVode(memory_, t1_, y_, &t, CV_NORMAL), "CVode");
        }
        count(counts);
        return N_VGetArrayPointer(y_);
    }
    /// The gradient of |y(t1)|² with respect to p.
    const double* gradient(const double* y0, const double* p, Counts& counts) {
        const double* y = solve(y0, p, counts);
        for (int i = 0; i < Field::state_size; ++i) NV_Ith_S(lambda_, i) = 2 * y[i];
        N_VConst(0, quadratures_);
        if (!is_adjoint_ready_) begin_backward();
        check(CVodeReInitB(memory_, way_back_, t1_, lambda_), "CVodeReInitB");
        check(CVodeQuadReInitB(memory_, way_back_, quadratures_), "CVodeQuadReInitB");
        check(CVodeB(memory_, 0, CV_NORMAL), "CVodeB");
        double t = 0;
        check(CVodeGetQuadB(memory_, way_back_, &t, quadratures_), "CVodeGetQuadB");
        return N_VGetArrayPointer(quadratures_);
    }

  private:
    void begin_forward() {
        check(CVodeInit(memory_, Calls::derivative, 0, y_), "CVodeInit");
        check(CVodeSStolerances(memory_, tolerances_.rtol, tolerances_.atol), "CVodeSStolerances");
        check(CVodeSetUserData(memory_, &field_), "CVodeSetUserData");
        check(CVodeSetMaxNumSteps(memory_, 1'000'000), "CVodeSetMaxNumSteps");
        CVodeSetErrHandlerFn(
            memory_, [](int, const char*, const char*, char*, void*) {}, nullptr);
        forward_ = std::make_unique<Dense>(y_, context_);
        check(CVodeSetLinearSolver(memory_, forward_->solver, forward_->matrix),
              "CVodeSetLinearSolver");
        check(CVodeSetJacFn(memory_, Calls::jacobian), "CVodeSetJacFn");
        // So many steps between checkpoints that nothing is integrated twice.
        if (with_gradient_) check(CVodeAdjInit(memory_, 100'000, CV_POLYNOMIAL), "CVodeAdjInit");
    }
    /// Can be made only after a forward solve.
    void begin_backward() {
        check(CVodeCreateB(memory_, CV_BDF, &way_back_), "CVodeCreateB");
        check(CVodeInitB(memory_, way_back_, Calls::adjoint, t1_, lambda_), "CVodeInitB");
        // Cotangents are of another size than states, and of the end's size: |y|² has the cotangents 2 y.
        check(CVodeSStolerancesB(memory_, way_back_, tolerances_.rtol, 1e-3 * tolerances_.rtol),
              "CVodeSStolerancesB");
        check(CVodeSetUserDataB(memory_, way_back_, &field_), "CVodeSetUserDataB");
        check(CVodeSetMaxNumStepsB(memory_, way_back_, 1'000'000), "CVodeSetMaxNumStepsB");
        backward_ = std::make_unique<Dense>(lambda_, context_);
        check(CVodeSetLinearSolverB(memory_, way_back_, backward_->solver, backward_->matrix),
              "CVodeSetLinearSolverB");
        check(CVodeSetJacFnB(memory_, way_back_, Calls::adjoint_jacobian), "CVodeSetJacFnB");
        check(CVodeQuadInitB(memory_, way_back_, Calls::quadrature, quadratures_),
              "CVodeQuadInitB");
        // Gradients are as small as rates are large.
        const N_Vector atol = N_VClone(quadratures_);
        for (int i = 0; i < Field::parameter_size; ++i)
            NV_Ith_S(atol, i) = 1e-4 * tolerances_.rtol / Field::p0[i];
        check(CVodeQuadSVtolerancesB(memory_, way_back_, tolerances_.rtol, atol),
              "CVodeQuadSVtolerancesB");
        N_VDestroy(atol);
        check(CVodeSetQuadErrConB(memory_, way_back_, SUNTRUE), "CVodeSetQuadErrConB");
        is_adjoint_ready_ = true;
    }
    void count(Counts& counts) const {
        long steps = 0, failed = 0, evaluations = 0;
        CVodeGetNumSteps(memory_, &steps);
        CVodeGetNumErrTestFails(memory_, &failed);
        CVodeGetNumRhsEvals(memory_, &evaluations);
        counts.accepted += static_cast<double>(steps);
        counts.rejected += static_cast<double>(failed);
        counts.evaluations += static_cast<double>(evaluations);
    }

    Tolerances tolerances_;
    double t1_;
    bool with_gradient_, is_adjoint_ready_ = false;
    StiffField<Field> field_;
    SUNContext context_ = nullptr;
    N_Vector y_ = nullptr, lambda_ = nullptr, quadratures_ = nullptr;
    void* memory_ = nullptr;
    int way_back_ = 0;
    std::unique_ptr<Dense> forward_, backward_;
};

template <class Field>
class CvodesStiff : public Arm {
  public:
    explicit CvodesStiff(const Options& options)
        : lanes_(options),
          atol_ratio_(options.number("atol_ratio")),
          t1_(stiff_end_time(options.text("problem"), options.text("task"))),
          with_gradient_(options.text("task") == "gradient"),
          size_(with_gradient_ ? Field::parameter_size : Field::state_size),
          results_(static_cast<std::size_t>(lanes_.num_run() * size_)) {
        set_tolerance(1e-6);
    }
    [[nodiscard]] std::string setting() const override {
        return with_gradient_
                   ? "BDF both ways, exact dense Jacobians, polynomial interpolation, quadratures "
                     "under error control relative to the rates, all steps kept, CVodeAdjReInit"
                   : "BDF, exact dense Jacobian, CVodeReInit";
    }
    void set_tolerance(double tolerance) override {
        session_ = std::make_unique<Session<Field>>(Tolerances{tolerance, tolerance * atol_ratio_},
                                                    t1_, with_gradient_);
    }
    Counts run() override {
        Counts counts{0, 0, 0};
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes_.num_run()); ++lane) {
            const double* y0 = &lanes_.y0[lane * Field::state_size];
            const double* p = &lanes_.p[lane * Field::parameter_size];
            const double* result =
                with_gradient_ ? session_->gradient(y0, p, counts) : session_->solve(y0, p, counts);
            std::copy_n(result, size_, &results_[lane * static_cast<std::size_t>(size_)]);
        }
        return counts;
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(lanes_, size_, [&](int lane, int i) {
            return results_[static_cast<std::size_t>(lane * size_ + i)];
        });
    }

  private:
    Lanes lanes_;
    double atol_ratio_, t1_;
    bool with_gradient_;
    int size_;
    std::vector<double> results_;
    std::unique_ptr<Session<Field>> session_;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) {
        return choose(options.text("problem"), options,
                      {{"robertson", make_arm<CvodesStiff<support::Robertson>>},
                       {"hires", make_arm<CvodesStiff<support::Hires>>},
                       {"pollution", make_arm<CvodesStiff<support::Pollution>>}});
    });
}
