#include <eddy/interop/train/inverse_hessian.hpp>
#include <limits>
#include <utility>

namespace eddy::inline v0::train::detail {

struct InverseHessian::Pair {
    std::vector<double> step, change;
    double curvature;
};

namespace {

void add_multiple(std::vector<double>& to, double factor, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

}  // namespace

double dot_of(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

InverseHessian::InverseHessian(int history) : most_(static_cast<std::size_t>(history)) {}
InverseHessian::InverseHessian(const InverseHessian&) = default;
InverseHessian::InverseHessian(InverseHessian&&) noexcept = default;
InverseHessian& InverseHessian::operator=(const InverseHessian&) = default;
InverseHessian& InverseHessian::operator=(InverseHessian&&) noexcept = default;
InverseHessian::~InverseHessian() = default;

bool InverseHessian::is_empty() const { return pairs_.empty(); }
void InverseHessian::forget() { pairs_.clear(); }

void InverseHessian::add(std::vector<double> step, std::vector<double> change) {
    const double curvature = dot_of(step, change);
    const double scale = dot_of(change, change);
    if (!(curvature > std::numeric_limits<double>::epsilon() * scale)) return;
    if (pairs_.size() == most_) pairs_.erase(pairs_.begin());
    pairs_.push_back({std::move(step), std::move(change), curvature});
}

std::vector<double> InverseHessian::direction(std::span<const double> gradient) const {
    std::vector<double> d(gradient.begin(), gradient.end()), part(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
        part[k] = dot_of(pairs_[k].step, d) / pairs_[k].curvature;
        add_multiple(d, -part[k], pairs_[k].change);
    }
    double scale = -1;
    if (!pairs_.empty()) {
        const Pair& last = pairs_.back();
        scale = -last.curvature / dot_of(last.change, last.change);
    }
    for (double& x : d) x *= scale;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const double again = dot_of(pairs_[k].change, d) / pairs_[k].curvature;
        add_multiple(d, -part[k] - again, pairs_[k].step);
    }
    return d;
}

}  // namespace eddy::inline v0::train::detail
