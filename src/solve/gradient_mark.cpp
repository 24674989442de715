#include <cmath>
#include <eddy/core/message.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>

namespace eddy::inline v0 {

std::string to_text(const GradientMark& mark) {
    if (!mark) return "the steps resolved the derivative wherever it was checked";
    constexpr const char* remedy =
        "limit the step size (dt_max), ask for a tighter tolerance, or take a method for stiff "
        "equations";
    if (std::isinf(mark.ratio))
        return detail::compose("at t = {} the derivative is not finite; {}", mark.t, remedy);
    return detail::compose(
        "at t = {} the steps are too long for a mode that the derivative follows (step size times "
        "rate = {}), while the state, in which it is small, asks for none shorter; {}",
        mark.t, std::round(10. * mark.ratio) / 10, remedy);
}

}  // namespace eddy::inline v0
