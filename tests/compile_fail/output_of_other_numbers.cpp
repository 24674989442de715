// expect: outputs: give a \(trajectory, component\) array that can be written, with numbers of the type of y0
// Arrays to write into hold the numbers of the call.
#include <eddy/solve/ask/outputs.hpp>

#ifdef EDDY_BAD
eddy::EnsembleArray<float> array(3, 2);
#else
eddy::EnsembleArray<double> array(3, 2);
#endif
const eddy::GradientInto<double> into{.p = array};
