#pragma once
// What a call on rows may have in the place of arrays: a function of parameters that y0 is, a table that p lies in.
// Arrays are made of them on the host before the work, and gradients are brought back to them after it.

#include <eddy/backends/rows/row_call.hpp>

namespace eddy::inline v0::detail {

template <class Real>
class RowArguments {
  public:
    /// Arrays of y0 and p alone: what is given, where it has them.
    [[nodiscard]] const RowArrays<Real>& with_arrays(const RowCall& call,
                                                     const RowArrays<Real>& given,
                                                     const char* where);
    /// From a gradient of those arrays to one of what was given.
    void bring_back(const RowCall& call, const RowArrays<Real>& given,
                    Gradient<Real>& gradient) const;

  private:
    void start(const RowCall& call, const RowArrays<Real>& given);
    void pull_start(const RowCall& call, const RowArrays<Real>& given,
                    Gradient<Real>& gradient) const;

    EnsembleArray<Real> y0_, p_;
    RowArrays<Real> arrays_;
};

}  // namespace eddy::inline v0::detail
