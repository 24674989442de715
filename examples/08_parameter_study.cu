// The same text on a GPU.
#include "08_parameter_study.cpp"
