// CVODES' adjoint: the forward trajectory is kept at every step and interpolated on the way back,
// where the adjoint equations λ' = −(∂f/∂y)ᵀλ and the quadratures of λᵀ∂f/∂p are integrated
// (Hindmarsh et al. 2005, ACM Trans. Math. Softw. 31(3), 363–396).

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <stdexcept>
#include <string>

#include "peers.hpp"

namespace benchmark {

const bool has_cvodes = true;

namespace {

void check(int status, const char* call) {
    if (status < 0)
        throw std::runtime_error(std::string(call) + " failed with " + std::to_string(status));
}

int field(realtype, N_Vector y, N_Vector dy, void* user) {
    const auto& p = *static_cast<const LorenzParameters*>(user);
    const double* x = N_VGetArrayPointer(y);
    double* dx = N_VGetArrayPointer(dy);
    dx[0] = p.sigma * (x[1] - x[0]);
    dx[1] = x[0] * (p.rho - x[2]) - x[1];
    dx[2] = x[0] * x[1] - p.beta * x[2];
    return 0;
}

int jacobian(realtype, N_Vector y, N_Vector, SUNMatrix matrix, void* user, N_Vector, N_Vector,
             N_Vector) {
    const auto& p = *static_cast<const LorenzParameters*>(user);
    const double* x = N_VGetArrayPointer(y);
    const double rows[3][3] = {
        {-p.sigma, p.sigma, 0}, {p.rho - x[2], -1, -x[0]}, {x[1], x[0], -p.beta}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) SM_ELEMENT_D(matrix, i, j) = rows[i][j];
    }
    return 0;
}

int adjoint_field(realtype, N_Vector y, N_Vector adjoint, N_Vector d_adjoint, void* user) {
    const auto& p = *static_cast<const LorenzParameters*>(user);
    const double *x = N_VGetArrayPointer(y), *l = N_VGetArrayPointer(adjoint);
    double* dl = N_VGetArrayPointer(d_adjoint);
    dl[0] = p.sigma * l[0] - (p.rho - x[2]) * l[1] - x[1] * l[2];
    dl[1] = -p.sigma * l[0] + l[1] - x[0] * l[2];
    dl[2] = x[0] * l[1] + p.beta * l[2];
    return 0;
}

int adjoint_jacobian(realtype, N_Vector y, N_Vector, N_Vector, SUNMatrix matrix, void* user,
                     N_Vector, N_Vector, N_Vector) {
    const auto& p = *static_cast<const LorenzParameters*>(user);
    const double* x = N_VGetArrayPointer(y);
    const double rows[3][3] = {
        {p.sigma, x[2] - p.rho, -x[1]}, {-p.sigma, 1, -x[0]}, {0, x[0], p.beta}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) SM_ELEMENT_D(matrix, i, j) = rows[i][j];
    }
    return 0;
}

/// −λᵀ∂f/∂p: integrated backward from zero it gives the gradient.
int quadrature(realtype, N_Vector y, N_Vector adjoint, N_Vector rate, void*) {
    const double *x = N_VGetArrayPointer(y), *l = N_VGetArrayPointer(adjoint);
    double* dq = N_VGetArrayPointer(rate);
    dq[0] = -l[0] * (x[1] - x[0]);
    dq[1] = -l[1] * x[0];
    dq[2] = l[2] * x[2];
    return 0;
}

}  // namespace

struct CvodesAdjoint::Session {
    SUNContext context = nullptr;
    N_Vector y, adjoint, quadratures;
    void* memory;
    int backward = 0;
    SUNNonlinearSolver fixed_point[2] = {};
    SUNMatrix matrix[2] = {};
    SUNLinearSolver dense[2] = {};
    LorenzParameters p{10, 28, 8. / 3};

    Session(const Choices& choices, double tolerance) {
        check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
        y = N_VNew_Serial(3, context);
        adjoint = N_VNew_Serial(3, context);
        quadratures = N_VNew_Serial(3, context);
        N_VConst(1, y);
        N_VConst(1, adjoint);
        N_VConst(0, quadratures);
        const int method = choices.method == Method::adams ? CV_ADAMS : CV_BDF;
        memory = CVodeCreate(method, context);
        begin_forward(choices, tolerance);
        // The adjoint can be made only after a forward solve.
        double t = 0;
        int checkpoints = 0;
        check(CVodeF(memory, 1, y, &t, CV_NORMAL, &checkpoints), "CVodeF");
        check(CVodeCreateB(memory, method, &backward), "CVodeCreateB");
        begin_backward(choices, tolerance * choices.backward_factor);
    }
    ~Session() {
        CVodeFree(&memory);
        for (int way = 0; way < 2; ++way) {
            if (fixed_point[way]) SUNNonlinSolFree(fixed_point[way]);
            if (dense[way]) SUNLinSolFree(dense[way]);
            if (matrix[way]) SUNMatDestroy(matrix[way]);
        }
        N_VDestroy(quadratures);
        N_VDestroy(adjoint);
        N_VDestroy(y);
        SUNContext_Free(&context);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

  private:
    void begin_forward(const Choices& choices, double tolerance) {
        check(CVodeInit(memory, field, 0, y), "CVodeInit");
        check(CVodeSStolerances(memory, tolerance, tolerance), "CVodeSStolerances");
        check(CVodeSetUserData(memory, &p), "CVodeSetUserData");
        check(CVodeSetMaxNumSteps(memory, 100'000), "CVodeSetMaxNumSteps");
        if (choices.method == Method::adams) {
            fixed_point[0] = SUNNonlinSol_FixedPoint(y, 0, context);
            check(CVodeSetNonlinearSolver(memory, fixed_point[0]), "CVodeSetNonlinearSolver");
        } else {
            matrix[0] = SUNDenseMatrix(3, 3, context);
            dense[0] = SUNLinSol_Dense(y, matrix[0], context);
            check(CVodeSetLinearSolver(memory, dense[0], matrix[0]), "CVodeSetLinearSolver");
            check(CVodeSetJacFn(memory, jacobian), "CVodeSetJacFn");
        }
        // So many steps between checkpoints that nothing is integrated twice.
        const int interpolation =
            choices.interpolation == Interpolation::hermite ? CV_HERMITE : CV_POLYNOMIAL;
        check(CVodeAdjInit(memory, 5'000, interpolation), "CVodeAdjInit");
    }
    void begin_backward(const Choices& choices, double tolerance) {
        check(CVodeInitB(memory, backward, adjoint_field, 1, adjoint), "CVodeInitB");
        check(CVodeSStolerancesB(memory, backward, tolerance, tolerance), "CVodeSStolerancesB");
        check(CVodeSetUserDataB(memory, backward, &p), "CVodeSetUserDataB");
        check(CVodeSetMaxNumStepsB(memory, backward, 100'000), "CVodeSetMaxNumStepsB");
        if (choices.method == Method::adams) {
            fixed_point[1] = SUNNonlinSol_FixedPoint(adjoint, 0, context);
            check(CVodeSetNonlinearSolverB(memory, backward, fixed_point[1]),
                  "CVodeSetNonlinearSolverB");
        } else {
            matrix[1] = SUNDenseMatrix(3, 3, context);
            dense[1] = SUNLinSol_Dense(adjoint, matrix[1], context);
            check(CVodeSetLinearSolverB(memory, backward, dense[1], matrix[1]),
                  "CVodeSetLinearSolverB");
            check(CVodeSetJacFnB(memory, backward, adjoint_jacobian), "CVodeSetJacFnB");
        }
        check(CVodeQuadInitB(memory, backward, quadrature, quadratures), "CVodeQuadInitB");
        check(CVodeQuadSStolerancesB(memory, backward, tolerance, tolerance),
              "CVodeQuadSStolerancesB");
        check(CVodeSetQuadErrConB(memory, backward, SUNTRUE), "CVodeSetQuadErrConB");
    }
};

CvodesAdjoint::CvodesAdjoint(const Choices& choices, double tolerance)
    : session_(std::make_unique<Session>(choices, tolerance)) {}
CvodesAdjoint::~CvodesAdjoint() = default;

State CvodesAdjoint::gradient(const State& y0, const LorenzParameters& p) {
    Session& s = *session_;
    s.p = p;
    double* y = N_VGetArrayPointer(s.y);
    for (int i = 0; i < 3; ++i) y[i] = y0[static_cast<std::size_t>(i)];
    check(CVodeReInit(s.memory, 0, s.y), "CVodeReInit");
    check(CVodeAdjReInit(s.memory), "CVodeAdjReInit");
    double t = 0;
    int checkpoints = 0;
    check(CVodeF(s.memory, 1, s.y, &t, CV_NORMAL, &checkpoints), "CVodeF");
    double* adjoint = N_VGetArrayPointer(s.adjoint);
    for (int i = 0; i < 3; ++i) adjoint[i] = 2 * y[i];
    N_VConst(0, s.quadratures);
    check(CVodeReInitB(s.memory, s.backward, 1, s.adjoint), "CVodeReInitB");
    check(CVodeQuadReInitB(s.memory, s.backward, s.quadratures), "CVodeQuadReInitB");
    check(CVodeB(s.memory, 0, CV_NORMAL), "CVodeB");
    check(CVodeGetQuadB(s.memory, s.backward, &t, s.quadratures), "CVodeGetQuadB");
    const double* q = N_VGetArrayPointer(s.quadratures);
    return {q[0], q[1], q[2]};
}

}  // namespace benchmark
