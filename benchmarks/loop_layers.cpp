#include "loop_layers.hpp"

#include "loop_programs.hpp"

namespace programs {
namespace {

template <class Network>
using Pullback = std::remove_const_t<decltype(eddy::vjp(traced<Network>))>;
template <class Network>
double pull(const eddy::Vec<Lanes, 8>& x, const eddy::Vec<double, 72>& w,
            const eddy::Vec<Lanes, 8>& c) {
    const auto [of_x, of_w] = Pullback<Network>{}(x, w, c);
    return of_x[0][0] + of_w[0][0];
}
template <class Network>
constexpr int memory_of = eddy::make_layout(Pullback<Network>::code).scratch_size;

}  // namespace

double pull_repeated(const eddy::Vec<Lanes, 8>& x, const eddy::Vec<double, 72>& w,
                     const eddy::Vec<Lanes, 8>& c) {
    return pull<Layers<16>>(x, w, c);
}
double pull_written_out(const eddy::Vec<Lanes, 8>& x, const eddy::Vec<double, 72>& w,
                        const eddy::Vec<Lanes, 8>& c) {
    return pull<LayersWrittenOut<16>>(x, w, c);
}
const int kept_memory = memory_of<Layers<64>>, nested_memory = memory_of<Layers<64, 8, 8>>;

}  // namespace programs
