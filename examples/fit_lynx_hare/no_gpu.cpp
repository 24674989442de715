// Where nothing is compiled for GPUs.
#include "machine.hpp"

namespace lynx_hare {

std::optional<Machine> gpu() { return std::nullopt; }

}  // namespace lynx_hare
