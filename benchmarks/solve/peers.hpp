#pragma once
// What eddy is compared with: solvers of one trajectory of the Lorenz equations from t = 0 to 1.
// Each sits in a source file of its own, compiled with the
// options that its own users would take; where it is not installed, no_odeint.cpp or no_cvodes.cpp
// stands in and must not be called.

#include <array>
#include <memory>
#include <vector>

namespace benchmark {

using State = std::array<double, 3>;

/// σ, ρ, β.
struct LorenzParameters {
    double sigma, rho, beta;
};

/// Whether Boost.Odeint was found when this program was built.
extern const bool has_odeint;
/// The end state by Boost.Odeint's controlled dopri5, with rtol = atol = tolerance.
[[nodiscard]] State odeint_dopri5(const State& y0, const LorenzParameters& p, double tolerance);

/// Whether SUNDIALS was found when this program was built.
extern const bool has_cvodes;
/// CVODES: forward with checkpoints, then its adjoint with quadratures for the parameters. Memory
/// and solvers are made once and used again for every trajectory.
class CvodesAdjoint {
  public:
    enum class Method { adams, bdf };
    enum class Interpolation { hermite, polynomial };
    struct Choices {
        Method method;
        Interpolation interpolation;
        double backward_factor;  ///< of the tolerances on the way back to those forward
    };

    CvodesAdjoint(const Choices& choices, double tolerance);
    ~CvodesAdjoint();
    CvodesAdjoint(const CvodesAdjoint&) = delete;
    CvodesAdjoint& operator=(const CvodesAdjoint&) = delete;

    /// The gradient of |y(1)|² by σ, ρ, β.
    [[nodiscard]] State gradient(const State& y0, const LorenzParameters& p);

  private:
    struct Session;
    std::unique_ptr<Session> session_;
};

}  // namespace benchmark
