#pragma once
// Every call, on arrays of any kind.

#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "interop/thrust_problem.hpp"

namespace thrust_calls {

using support::Forced;
using support::HalfSquares;

inline const eddy::SolveOptions options{
    .t1 = 2, .rtol = 1e-5, .atol = 1e-8, .save_at = {0.5, 2}, .stable_gradients = false};

/// All that the calls give.
template <class A, class Backend>
std::vector<Array> results(const Arrays<A>& of, const Backend& backend) {
    using eddy::Bosh3;
    std::vector<Array> all;
    const auto add = [&](const auto&... arrays) { (all.push_back(Array(arrays)), ...); };
    const auto solution = eddy::solve(Forced{}, Bosh3{}, of.y0, of.p, options, backend);
    const auto of_cotangents = eddy::pullback(solution, of.data);
    add(solution.y(0), solution.y(1), of_cotangents.y0, of_cotangents.p);
    const auto pushed = eddy::pushforward(Forced{}, Bosh3{}, of.y0, of.p, of.y0_tangent,
                                          of.p_tangent, options, backend);
    add(pushed.y(1), pushed.tangent(0), pushed.tangent(1));
    const auto [loss, gradient, report] = eddy::value_and_gradient(
        Forced{}, Bosh3{}, HalfSquares{}, of.data, of.y0, of.p, options, backend);
    add(Array(1, 1, loss.total), gradient.y0, gradient.p);
    const auto shared = eddy::value_and_gradient(Forced{}, Bosh3{}, HalfSquares{}, of.data, of.y0,
                                                 eddy::shared(of.row), options, backend);
    add(shared.gradient.y0, shared.gradient.p);
    const auto second =
        eddy::hessian_vector_product(Forced{}, Bosh3{}, HalfSquares{}, of.data, of.y0, of.p,
                                     of.y0_tangent, of.p_tangent, options, backend);
    add(second.product.y0, second.product.p);
    return all;
}

}  // namespace thrust_calls
