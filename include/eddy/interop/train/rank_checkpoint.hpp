#pragma once
// A training of several ranks on disk: the first rank writes and reads, all go on with the same numbers. Only one rank needs
// the file.
// Test: tests/mpi/ranks.cpp

#include <array>
#include <eddy/interop/train/checkpoint_file.hpp>
#include <eddy/solve/ranks/rank_rows.hpp>

namespace eddy::inline v0::train {

/// `save_checkpoint` by the first rank of a backend such as `Mpi`. All ranks call it, and wait until the file is there.
template <class Rule, class Real, class Backend>
requires(eddy::detail::IsBackend<Backend>) void save_checkpoint(
    const std::string& path, std::type_identity_t<std::span<const Real>> p,
    const Optimizer<Rule, Real>& optimizer, const Backend& backend) {
    on_first_rank(backend, [&] { save_checkpoint(path, p, optimizer); });
}

/// `load_checkpoint` by the first rank, for all. All ranks call it, and change nothing if the file does not fit.
template <class Rule, class Real, class Backend>
requires(eddy::detail::IsBackend<Backend>) void load_checkpoint(
    const std::string& path, std::type_identity_t<std::span<Real>> p,
    Optimizer<Rule, Real>& optimizer, const Backend& backend) {
    std::array<std::int64_t, 1> num_steps{};
    std::vector<Moments<Real>> moments(p.size());
    const auto read = [&] {
        load_checkpoint(path, p, optimizer);
        num_steps[0] = optimizer.num_steps();
        moments.assign(optimizer.moments().begin(), optimizer.moments().end());
    };
    on_first_rank(backend, read, p, moments, num_steps);
    optimizer.resume(num_steps[0], moments);
}

}  // namespace eddy::inline v0::train
