#pragma once
// What a call on rows may have in the place of arrays: a function of parameters that y0 is, a table that p lies in.
// Arrays are made of them on the host before the work, and gradients are brought back to them after it.

#include <eddy/backends/rows/row_call.hpp>

namespace eddy::inline v0::detail {

class RowArguments {
  public:
    /// The call with arrays of y0 and p: itself, where it has them.
    [[nodiscard]] const RowCall& with_arrays(const RowCall& call, const char* where);
    /// From a gradient of those arrays to one of what `call` was given.
    void bring_back(const RowCall& call, Gradient<double>& gradient) const;

  private:
    void start(const RowCall& call);
    void pull_start(const RowCall& call, Gradient<double>& gradient) const;

    EnsembleArray<double> y0_, p_;
    RowCall with_arrays_;
};

}  // namespace eddy::inline v0::detail
