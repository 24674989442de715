#pragma once
// Pullbacks of 16 layers, by `repeat` and written out, where 64 would take a minute to compile.

#include <eddy/core/pack.hpp>
#include <eddy/core/vec.hpp>

namespace programs {

using Lanes = eddy::Pack<double, 8>;
double pull_repeated(const eddy::Vec<Lanes, 8>& x, const eddy::Vec<double, 72>& w,
                     const eddy::Vec<Lanes, 8>& c);
double pull_written_out(const eddy::Vec<Lanes, 8>& x, const eddy::Vec<double, 72>& w,
                        const eddy::Vec<Lanes, 8>& c);
/// Numbers that the pullbacks hold in memory: with all turns kept, and in groups of eight.
extern const int kept_memory, nested_memory;

}  // namespace programs
