// expect: nn::Mlp: that is a function of the C library; write nn::tanh
// tanh by its bare name is that of <cmath>, unless a namespace of its own has another.
#include <eddy/trace/nn/mlp.hpp>

namespace networks {
#ifndef EDDY_BAD
using eddy::nn::tanh;
#endif
constexpr eddy::nn::Mlp<2, 8, 2> network{tanh};
}  // namespace networks
