// expect: outputs: give a \(lane, component\) array of the numbers of y0 that can be written
// Arrays to write into hold the numbers of the call.
#include <eddy/solve/ask/outputs.hpp>

#ifdef EDDY_BAD
eddy::EnsembleArray<float> array(3, 2);
#else
eddy::EnsembleArray<double> array(3, 2);
#endif
const eddy::GradientInto<double> into{.p = array};
