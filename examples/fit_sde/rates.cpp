#include "rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../fitting/bad_input.hpp"
#include "../fitting/shown_text.hpp"
#include "../fitting/table.hpp"

namespace short_rate {

namespace {

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

/// What no model of rates can be fitted to, or what seems to be in other units.
void require_rates(const Rates& rates, const std::string& file) {
    const auto [least, most] = std::minmax_element(rates.rate.begin(), rates.rate.end());
    if (*least == *most) {
        throw fitting::BadInput(fitting::shown(file) + ": all rates are " + number(100 * *most) +
                                " per cent; give rates that vary, for noise is to be fitted");
    }
    if (*most > 10) {
        throw fitting::BadInput(fitting::shown(file) + ": a rate of " + number(100 * *most) +
                                "; give rates in per cent a year, at most 1000");
    }
    if (!(rates.gap() >= 1e-3 && rates.gap() <= 10)) {
        throw fitting::BadInput(fitting::shown(file) + ": " + number(rates.gap()) +
                                " years between two rows; give times in years, a thousandth to "
                                "ten years apart");
    }
}

}  // namespace

Rates read_rates(const std::string& file) {
    auto columns = fitting::read_table(
        file,
        {.columns = {"year", "rate"},
         .contents = "rates",
         .num_unknowns = "four",
         .fewest_rows = 8,
         .above_zero = "rates must be above zero, for the size of the noise is a power of them"});
    Rates rates{columns[0], columns[1]};
    for (double& rate : rates.rate) rate /= 100;
    require_rates(rates, file);
    for (std::size_t k = 1; k < rates.year.size(); ++k) {
        const double gap = rates.year[k] - rates.year[k - 1];
        if (std::fabs(gap - rates.gap()) > 1e-3 * rates.gap()) {
            throw fitting::BadInput(fitting::shown(file) + ": " + number(gap) +
                                    " years between rows " + std::to_string(k) + " and " +
                                    std::to_string(k + 1) + ", but " + number(rates.gap()) +
                                    " between the first two; give evenly spaced times");
        }
    }
    return rates;
}

}  // namespace short_rate
