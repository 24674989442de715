// The fit of case 11: the repository's own example, without its words and its picture.

#include <algorithm>

#include "../../../examples/fit_lynx_hare/counts.hpp"
#include "../../../examples/fit_lynx_hare/refine.hpp"
#include "../../../examples/fit_lynx_hare/starts.hpp"
#include "arm.hpp"
#include "fit.hpp"

namespace {

using namespace peers;

class EddyFit : public Arm {
  public:
    explicit EddyFit(const Options& options)
        : options_(options),
          counts_(lynx_hare::read_counts(LYNX_HARE_COUNTS)),
          starts_(every(lynx_hare::starting_points(counts_, options.integer("lanes")),
                        options.integer("stride", 1))) {}
    [[nodiscard]] std::string setting() const override {
        return "Tsit5, rtol 1e-8, pushforward of six lanes for the Jacobian, Eigen's "
               "LevenbergMarquardt";
    }
    Counts run() override {
        found_ = {};
        for (const lynx_hare::Fit& fit :
             lynx_hare::refine_all(counts_, starts_, options_.integer("cores", 1)).fits)
            found_.add(fit.sum_of_squares);
        return {};
    }
    [[nodiscard]] std::string more() const override { return found_.text(); }
    [[nodiscard]] std::vector<double> values() const override {
        return found_.values(options_.integer("check"));
    }

  private:
    Options options_;
    lynx_hare::Counts counts_;
    lynx_hare::UnknownsArray starts_;
    Found found_;
};

}  // namespace

int main(int argc, char** argv) {
    return serve(argc, argv, [](const Options& options) -> std::unique_ptr<Arm> {
        return std::make_unique<EddyFit>(options);
    });
}
