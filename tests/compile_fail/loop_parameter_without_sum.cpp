// expect: add_cotangent: the cotangents of a parameter are added up over the steps of a loop, and this type has no sum; give it an operator\+ or a list of its members
// A class whose members nobody sees as the parameter of a loop.
#include <cstdint>
#include <eddy/checkpoint/while_loop.hpp>
#include <tuple>

class Rates {
  public:
    Rates() = default;
    Rates(double of_growth, double of_decay) : growth(of_growth), decay(of_decay) {}
#ifndef EDDY_BAD
    friend Rates operator+(const Rates& a, const Rates& b) {
        return {a.growth + b.growth, a.decay + b.decay};
    }
#endif
    double growth = 0, decay = 0;
};

struct Step {
    struct Linearization {
        double x, value;
        Rates rates;
        std::tuple<double, Rates> pullback(double cotangent) const {
            return {(rates.growth - rates.decay) * cotangent, Rates{x * cotangent, -x * cotangent}};
        }
    };
    double operator()(double x, const Rates& r) const { return (r.growth - r.decay) * x; }
    Linearization linearize(double x, const Rates& r) const { return {x, (*this)(x, r), r}; }
};

inline auto gradient() {
    const auto below_nine = [](double x) { return x < 9; };
    const auto loop = eddy::while_loop(below_nine, Step{}, {.checkpoints = 3});
    return loop.linearize(1.0, Rates{3, 1}).pullback(1.0);
}
