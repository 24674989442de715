#include "machine_calls.hpp"

namespace lynx_hare {

const Machine& machine() {
    static const Machine chosen = [] {
        if (std::optional<Machine> device = gpu()) return *std::move(device);
        return machine_of("the processor", eddy::Cpu{});
    }();
    return chosen;
}

}  // namespace lynx_hare
