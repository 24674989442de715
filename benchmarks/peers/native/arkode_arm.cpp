// SUNDIALS' explicit Runge–Kutta methods (ARKODE, ERKStep), one trajectory after another, memory used again.

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>

#include "arm.hpp"

namespace {

using namespace peers;

void check(int status, const char* call) {
    if (status < 0)
        throw std::runtime_error(std::string(call) + " failed with " + std::to_string(status));
}

int lorenz(realtype, N_Vector y, N_Vector dy, void* user) {
    const double *p = static_cast<const double*>(user), *x = N_VGetArrayPointer(y);
    double* dx = N_VGetArrayPointer(dy);
    dx[0] = p[0] * (x[1] - x[0]);
    dx[1] = x[0] * (p[1] - x[2]) - x[1];
    dx[2] = x[0] * x[1] - p[2] * x[2];
    return 0;
}

class Erk : public Arm {
  public:
    explicit Erk(const Options& options)
        : lanes_(options),
          table_(options.text("method") == "8" ? ARKODE_FEHLBERG_13_7_8
                                               : ARKODE_DORMAND_PRINCE_7_4_5),
          ends_(lanes_.y0) {
        if (options.text("problem") != "lorenz")
            throw std::runtime_error("not built for " + options.text("problem"));
        check(SUNContext_Create(nullptr, &context_), "SUNContext_Create");
        y_ = N_VNew_Serial(3, context_);
        N_VConst(1, y_);
        memory_ = ERKStepCreate(lorenz, 0, y_, context_);
        check(ERKStepSetTableNum(memory_, table_), "ERKStepSetTableNum");
        check(ERKStepSetMaxNumSteps(memory_, 1'000'000), "ERKStepSetMaxNumSteps");
        set_tolerance(1e-6);
    }
    ~Erk() override {
        ERKStepFree(&memory_);
        N_VDestroy(y_);
        SUNContext_Free(&context_);
    }
    [[nodiscard]] std::string setting() const override {
        return table_ == ARKODE_FEHLBERG_13_7_8
                   ? "ERKStep, ARKODE_FEHLBERG_13_7_8, ERKStepReInit"
                   : "ERKStep, ARKODE_DORMAND_PRINCE_7_4_5, ERKStepReInit";
    }
    void set_tolerance(double tolerance) override {
        check(ERKStepSStolerances(memory_, tolerance, tolerance), "ERKStepSStolerances");
    }
    Counts run() override {
        Counts counts{0, 0, 0};
        double* y = N_VGetArrayPointer(y_);
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes_.num_run()); ++lane) {
            for (std::size_t i = 0; i < 3; ++i) y[i] = lanes_.y0[3 * lane + i];
            check(ERKStepReInit(memory_, lorenz, 0, y_), "ERKStepReInit");
            check(ERKStepSetUserData(memory_, &lanes_.p[3 * lane]), "ERKStepSetUserData");
            check(ERKStepSetStopTime(memory_, 1), "ERKStepSetStopTime");
            double t = 0;
            check(ERKStepEvolve(memory_, 1, y_, &t, ARK_NORMAL), "ERKStepEvolve");
            for (std::size_t i = 0; i < 3; ++i) ends_[3 * lane + i] = y[i];
            long steps = 0, fails = 0, evaluations = 0;
            ERKStepGetNumSteps(memory_, &steps);
            ERKStepGetNumErrTestFails(memory_, &fails);
            ERKStepGetNumRhsEvals(memory_, &evaluations);
            counts.accepted += static_cast<double>(steps);
            counts.rejected += static_cast<double>(fails);
            counts.evaluations += static_cast<double>(evaluations);
        }
        return counts;
    }
    [[nodiscard]] std::vector<double> values() const override {
        return looked_at(lanes_, 3, [&](int lane, int i) {
            return ends_[static_cast<std::size_t>(3 * lane + i)];
        });
    }

  private:
    Lanes lanes_;
    ARKODE_ERKTableID table_;
    std::vector<double> ends_;
    SUNContext context_ = nullptr;
    N_Vector y_ = nullptr;
    void* memory_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<Erk>(options);
    });
}
