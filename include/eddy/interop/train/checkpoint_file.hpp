#pragma once
// A training on disk: weights, what the optimiser remembers, how many steps were made, and what early
// stopping knows, where there is one. A file is
// written beside the old one and then takes its place, so that there is a whole one at every moment. One
// that is taken up again goes on bit for bit.
// Test: tests/interop/train.cpp

#include <algorithm>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/interop/train/early_stopping.hpp>
#include <eddy/interop/train/optimizer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy::inline v0::train {
namespace detail {

/// What has to be the same of a training and of its file.
struct TrainingShape {
    std::uint32_t bytes_per_number = 0;
    std::uint64_t num_parameters = 0;
    std::string_view rule;  // what moments are is its matter
};

template <class Rule, class Real>
[[nodiscard]] TrainingShape training_shape(const char* where, std::size_t num_parameters,
                                           const Optimizer<Rule, Real>& optimizer) {
    static_assert(
        requires { std::string_view(Rule::name); },
        "train::save_checkpoint, load_checkpoint: the optimizer's rule needs a static constexpr "
        "std::string_view name, so that no other rule takes its file up");
    require_argument(num_parameters == optimizer.moments().size(),
                     "{}: {} parameters; the optimizer was made for {}", where, num_parameters,
                     optimizer.moments().size());
    return {sizeof(Real), num_parameters, Rule::name};
}

/// The numbers of a training, part by part: weights, moments and, with early stopping, its state and weights.
using TrainingParts = std::span<const std::span<const std::byte>>;
EDDY_EXPORT void write_checkpoint(const std::string& path, const TrainingShape& shape,
                                  std::int64_t num_steps, TrainingParts parts);
/// Fills the parts, and returns the number of steps.
[[nodiscard]] EDDY_EXPORT std::int64_t read_checkpoint(const std::string& path,
                                                       const TrainingShape& shape,
                                                       std::span<const std::span<std::byte>> parts);

}  // namespace detail

/// Writes weights and optimiser to a file. Throws InvalidArgument if it cannot be written.
template <class Rule, class Real>
void save_checkpoint(const std::string& path, std::type_identity_t<std::span<const Real>> p,
                     const Optimizer<Rule, Real>& optimizer) {
    const auto shape = detail::training_shape("train::save_checkpoint", p.size(), optimizer);
    const std::span<const std::byte> parts[] = {std::as_bytes(p),
                                                std::as_bytes(std::span(optimizer.moments()))};
    detail::write_checkpoint(path, shape, optimizer.num_steps(), parts);
}
/// The same with the state of early stopping.
template <class Rule, class Real>
void save_checkpoint(const std::string& path, std::type_identity_t<std::span<const Real>> p,
                     const Optimizer<Rule, Real>& optimizer, const EarlyStopping<Real>& stopping) {
    constexpr const char* where = "train::save_checkpoint";
    const auto shape = detail::training_shape(where, p.size(), optimizer);
    std::vector<Real> best(stopping.best().begin(), stopping.best().end());
    require_argument(best.empty() || best.size() == p.size(),
                     "{}: {} parameters, and {} of the best check; give the early stopping of this "
                     "training",
                     where, p.size(), best.size());
    best.resize(p.size());
    const std::span<const std::byte> parts[] = {
        std::as_bytes(p), std::as_bytes(std::span(optimizer.moments())),
        std::as_bytes(std::span(&stopping.state(), 1)), std::as_bytes(std::span(best))};
    detail::write_checkpoint(path, shape, optimizer.num_steps(), parts);
}

/// Reads a file of `save_checkpoint` into weights and an optimiser of the same size and rule. The
/// settings of that optimiser stay as they are. If the file does not fit, the call throws
/// InvalidArgument and changes nothing.
template <class Rule, class Real>
void load_checkpoint(const std::string& path, std::type_identity_t<std::span<Real>> p,
                     Optimizer<Rule, Real>& optimizer) {
    const auto shape = detail::training_shape("train::load_checkpoint", p.size(), optimizer);
    std::vector<Real> weights(p.size());
    std::vector<Moments<Real>> moments(p.size());
    const std::span<std::byte> parts[] = {std::as_writable_bytes(std::span(weights)),
                                          std::as_writable_bytes(std::span(moments))};
    const std::int64_t num_steps = detail::read_checkpoint(path, shape, parts);
    optimizer.resume(num_steps, moments);
    std::copy(weights.begin(), weights.end(), p.begin());
}
/// The same with the state of early stopping, from a file that has it.
template <class Rule, class Real>
void load_checkpoint(const std::string& path, std::type_identity_t<std::span<Real>> p,
                     Optimizer<Rule, Real>& optimizer, EarlyStopping<Real>& stopping) {
    const auto shape = detail::training_shape("train::load_checkpoint", p.size(), optimizer);
    std::vector<Real> weights(p.size()), best(p.size());
    std::vector<Moments<Real>> moments(p.size());
    StoppingState state;
    const std::span<std::byte> parts[] = {
        std::as_writable_bytes(std::span(weights)), std::as_writable_bytes(std::span(moments)),
        std::as_writable_bytes(std::span(&state, 1)), std::as_writable_bytes(std::span(best))};
    const std::int64_t num_steps = detail::read_checkpoint(path, shape, parts);
    if (state.best_check == 0) best.clear();
    EarlyStopping<Real> resumed = stopping;
    resumed.resume(state, best);
    optimizer.resume(num_steps, moments);
    stopping = std::move(resumed);
    std::copy(weights.begin(), weights.end(), p.begin());
}

}  // namespace eddy::inline v0::train
