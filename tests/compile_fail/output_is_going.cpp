// expect: outputs: this array is a temporary, which would be destroyed with the results in it
// An array that nobody keeps is no place for results.
#include <eddy/solve/ask/outputs.hpp>

eddy::EnsembleArray<double> array(3, 2);
#ifdef EDDY_BAD
const eddy::SolutionInto<double> into{.y = eddy::EnsembleArray<double>(3, 2)};
#else
const eddy::SolutionInto<double> into{.y = array};
#endif
