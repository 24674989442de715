#include <cstdlib>

#include "peers.hpp"

namespace benchmark {

const bool has_cvodes = false;

struct CvodesAdjoint::Session {};

CvodesAdjoint::CvodesAdjoint(const Choices&, double) { std::abort(); }
CvodesAdjoint::~CvodesAdjoint() = default;

State CvodesAdjoint::gradient(const State&, const LorenzParameters&) { std::abort(); }

}  // namespace benchmark
