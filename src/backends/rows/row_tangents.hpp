#pragma once
// Forward mode on rows is a solve of y and its tangents, by an equation of both. Here are the call and the arrays of that.

#include <eddy/backends/rows/row_call.hpp>

namespace eddy::inline v0::detail {

/// Of the calls of one solver object, which carry the same tangents.
template <class Real>
class RowTangents {
  public:
    /// The call of y and its tangents.
    [[nodiscard]] const RowCall& with_tangents(const RowCall& call,
                                               const std::vector<Direction>& directions,
                                               const char* where);
    /// Its arrays, of checked ones: `along` are those of the tangent.
    [[nodiscard]] const RowArrays<Real>& with_tangent(const RowCall& call,
                                                      const RowArrays<Real>& given,
                                                      const RowArrays<Real>& along,
                                                      const char* where);

    /// The arrays of tangents that begin with ones, each in the place of a component of y0, or with zeros: −1.
    [[nodiscard]] const RowArrays<Real>& with_ones(const RowArrays<Real>& given,
                                                   const std::vector<int>& places);

  private:
    static void join(EnsembleArray<Real>& both, std::ptrdiff_t rows, std::ptrdiff_t size,
                     const auto& values, const auto& tangents);

    RowCall call_;
    EnsembleArray<Real> y0_, p_;
    std::shared_ptr<const FieldMaker> start_of_y0_, start_;  // as given, and with its tangent
    RowArrays<Real> arrays_;
};

/// The equation with tangents. Throws where it has none.
[[nodiscard]] std::shared_ptr<const FieldMaker> with_tangents(
    const std::shared_ptr<const FieldMaker>& field, const std::vector<Direction>& directions,
    const char* where);
/// Throws where tangents are to decide steps.
void require_steps_of_state(const RowCall& call, const char* where);
/// Throws where `reader`, of what the call saves, reads a time that events move. Null: there is none.
void require_no_time(const RowCall& call, const FieldMaker* reader, const char* where);

}  // namespace eddy::inline v0::detail
