// expect: is the network with tanh; write nn::mlp<sizes\.\.\.>\(activation\) for one with another
// The activation in braces, which cannot become part of the type.
#include <eddy/trace/nn/mlp.hpp>

#ifdef EDDY_BAD
constexpr eddy::nn::Mlp<2, 8, 2> network{eddy::nn::relu};
#else
constexpr auto network = eddy::nn::mlp<2, 8, 2>(eddy::nn::relu);
#endif
static_assert(network.parameter_size == 42);
