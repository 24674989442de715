#include "rates.hpp"

#include <cmath>

#include "../fitting/bad_input.hpp"
#include "../fitting/shown_text.hpp"
#include "../fitting/table.hpp"

namespace short_rate {

Rates read_rates(const std::string& file) {
    auto columns = fitting::read_table(file, {.columns = {"year", "rate"},
                                              .contents = "rates",
                                              .num_unknowns = "four",
                                              .fewest_rows = 8,
                                              .above_zero = "its power is the size of the noise"});
    Rates rates{columns[0], columns[1]};
    for (double& rate : rates.rate) rate /= 100;
    for (std::size_t k = 1; k < rates.year.size(); ++k) {
        const double gap = rates.year[k] - rates.year[k - 1];
        if (std::fabs(gap - rates.gap()) > 1e-3 * rates.gap()) {
            throw fitting::BadInput(fitting::shown(file) + ": " + std::to_string(gap) +
                                    " years between rows " + std::to_string(k) + " and " +
                                    std::to_string(k + 1) + ", but " + std::to_string(rates.gap()) +
                                    " between the first two; give evenly spaced times");
        }
    }
    return rates;
}

}  // namespace short_rate
