#pragma once
// What a policy of remat is asked of, and what it may answer. See ad/policies.hpp.
// Test: tests/ad/policies.cpp

#include <eddy/trace/op.hpp>
#include <string_view>

namespace eddy::inline v0 {

struct Graph;

/// What a policy of remat decides for a value of the forward pass. See ad/remat.hpp.
enum class Saving : unsigned char {
    recompute,  ///< drop it; the backward pass computes it again
    save,       ///< keep it for the backward pass
    offload     ///< keep it, marked for slower memory
};

/// A value of the forward pass, for which a policy of remat decides.
struct Candidate {
    Op op = Op::constant;  ///< the operation that makes the value
    int size = 1;          ///< its number of components
    /// Products: the matrix of `dense`, or either vector of `dot`, is (part of) an argument. Then
    /// the trajectories are the only batch dimension.
    bool weights_are_arguments = false;
    const std::string_view* names = nullptr;  ///< its names, given by checkpoint_name
    int num_names = 0;                        ///< the number of names
    const Graph* graph = nullptr;             ///< the program that it is a value of
    int node = -1;                            ///< its place there

    /// The number of values that it is computed from.
    [[nodiscard]] constexpr int num_operands() const;
    /// A value that it is computed from, without that one's names.
    [[nodiscard]] constexpr Candidate operand(int k) const;
    /// The number of calls of remat around it.
    [[nodiscard]] constexpr int depth() const;
    /// Its memory in one trajectory.
    template <class Real>
    [[nodiscard]] constexpr long long num_bytes() const {
        return static_cast<long long>(sizeof(Real)) * size;
    }
    /// True if it has this name.
    [[nodiscard]] constexpr bool has_name(std::string_view wanted) const {
        for (int i = 0; i < num_names; ++i) {
            if (names[i] == wanted) return true;
        }
        return false;
    }
};

/// A remat policy, as a function.
using PolicyFunction = Saving (*)(const Candidate&);
[[nodiscard]] constexpr Saving save_anything(const Candidate&) { return Saving::save; }

}  // namespace eddy::inline v0
