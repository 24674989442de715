#pragma once
// Rooted trees and the order conditions Σ_i b_i Φ_i(tree) = 1/γ(tree) that they stand for (Hairer,
// Nørsett & Wanner 1993, Solving ODEs I, II.2): every tree up to any order, so that a single wrong
// digit of a coefficient shows.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace support {

struct RootedTree {
    std::vector<int> children;  // places in the list, falling
    int order = 1;
    double density = 1;  // γ: order times the densities of the children
};

/// Adds every tree whose children come after `children` in falling order and have `nodes_left`
/// nodes in all.
inline void add_rooted_trees(std::vector<RootedTree>& trees, std::vector<int> children,
                             int nodes_left, int order) {
    if (nodes_left == 0) {
        double density = order;
        for (int child : children) density *= trees[static_cast<std::size_t>(child)].density;
        trees.push_back({std::move(children), order, density});
        return;
    }
    const int last = children.empty() ? static_cast<int>(trees.size()) - 1 : children.back();
    for (int child = last; child >= 0; --child) {
        const int nodes = trees[static_cast<std::size_t>(child)].order;
        if (nodes > nodes_left || nodes == order) continue;
        children.push_back(child);
        add_rooted_trees(trees, children, nodes_left - nodes, order);
        children.pop_back();
    }
}

/// Every rooted tree with at most `max_order` nodes, smallest first.
inline std::vector<RootedTree> rooted_trees(int max_order) {
    std::vector<RootedTree> trees;
    for (int order = 1; order <= max_order; ++order) add_rooted_trees(trees, {}, order - 1, order);
    return trees;
}

/// A sum and the sum of its terms' magnitudes, which says how far rounded coefficients move it.
struct Weighed {
    long double value = 0, magnitude = 0;

    friend Weighed operator*(Weighed a, Weighed b) {
        return {a.value * b.value, a.magnitude * b.magnitude};
    }
    Weighed& operator+=(Weighed a) {
        value += a.value;
        magnitude += a.magnitude;
        return *this;
    }
};
inline Weighed weighed(long double x) { return {x, std::fabs(x)}; }

/// The elementary weights Φ_i(tree) of a Runge–Kutta matrix for a list of trees: [tree][stage].
template <int stages>
std::vector<std::vector<Weighed>> elementary_weights(const double (&a)[stages][stages],
                                                     const std::vector<RootedTree>& trees) {
    std::vector<std::vector<Weighed>> weights;
    for (const RootedTree& tree : trees) {
        std::vector<Weighed> phi(stages, weighed(1));
        for (int child : tree.children) {
            for (std::size_t i = 0; i < stages; ++i) {
                Weighed grafted;
                for (std::size_t j = 0; j < stages; ++j)
                    grafted += weighed(a[i][j]) * weights[static_cast<std::size_t>(child)][j];
                phi[i] = phi[i] * grafted;
            }
        }
        weights.push_back(std::move(phi));
    }
    return weights;
}

/// The highest order whose conditions all hold for b(θ): Σ_i b_i Φ_i = θ^order / γ for every tree
/// of that order and all below. A condition holds when it is met within what rounding of its
/// coefficients explains: each term is a product of one b and order − 1 of a, each wrong by half an
/// ulp at most, or by one where it is computed from two or more rounded numbers.
template <int stages>
int satisfied_order(const double (&a)[stages][stages], const std::vector<Weighed>& b,
                    long double theta, const std::vector<RootedTree>& trees) {
    const auto weights = elementary_weights(a, trees);
    int satisfied = trees.back().order;
    for (std::size_t t = 0; t < trees.size(); ++t) {
        Weighed sum;
        for (std::size_t i = 0; i < stages; ++i) sum += b[i] * weights[t][i];
        const long double expected = std::pow(theta, trees[t].order) / trees[t].density;
        const long double tolerance =
            trees[t].order * std::numeric_limits<double>::epsilon() * sum.magnitude;
        if (!(std::fabs(sum.value - expected) <= tolerance))
            satisfied = std::min(satisfied, trees[t].order - 1);
    }
    return satisfied;
}

}  // namespace support
