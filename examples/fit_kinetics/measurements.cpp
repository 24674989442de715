#include "measurements.hpp"

#include "fitting/bad_input.hpp"
#include "fitting/shown_text.hpp"
#include "fitting/table.hpp"

namespace kinetics {

Measurements read_measurements(const std::string& file) {
    const auto columns = fitting::read_table(
        file, {.columns = {"minutes", "pSTAT5A_rel", "pSTAT5B_rel", "rSTAT5A_rel"},
               .contents = "measurements",
               .num_unknowns = "nine",
               .fewest_rows = 4});
    if (columns[0].front() < 0) {
        throw fitting::BadInput(fitting::shown(file) +
                                ": measurements before minute 0; count from erythropoietin on");
    }
    Measurements data{columns[0]};
    data.values.resize(data.num_times(), 3);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < data.num_times(); ++k)
            data.values(k, i) =
                columns[static_cast<std::size_t>(i + 1)][static_cast<std::size_t>(k)];
    }
    return data;
}

}  // namespace kinetics
