// expect: outputs: this array lies in the memory of a device; results are brought to the host
// Results are written where the host can.
#include <eddy/solve/ask/outputs.hpp>

struct SomeDevice {};

eddy::EnsembleArray<double> array(3, 2);
#ifdef EDDY_BAD
eddy::ViewIn<SomeDevice, double> view{array.view()};
#else
eddy::EnsembleView<double> view = array.view();
#endif
const eddy::GradientInto<double> into{.p = view};
