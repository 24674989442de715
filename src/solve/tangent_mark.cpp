#include <cmath>
#include <eddy/core/message.hpp>
#include <eddy/solve/lane/tangent_mark.hpp>

namespace eddy::inline v0 {

std::string to_text(const TangentMark& mark) {
    if (!mark) return "the steps resolved the tangent";
    return detail::compose(
        "at t = {} the error of a step in the tangent was {} times its tolerance, while the state "
        "asked "
        "for no shorter step; set tangents_in_error_norm = true, limit the step size (dt_max), or "
        "ask "
        "for a tighter tolerance",
        mark.t, std::round(mark.ratio));
}

}  // namespace eddy::inline v0
