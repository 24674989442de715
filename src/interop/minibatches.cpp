#include <eddy/core/error.hpp>
#include <eddy/core/random/philox.hpp>
#include <eddy/interop/train/minibatches.hpp>
#include <numeric>
#include <utility>

namespace eddy::inline v0::train {

Minibatches::Minibatches(std::ptrdiff_t num_samples, std::ptrdiff_t batch_size, std::uint64_t seed)
    : batch_size_(batch_size), seed_(seed) {
    require_argument(batch_size > 0 && batch_size <= num_samples,
                     "train::Minibatches: batches of {} of {} samples; give at least 1, and at "
                     "most all of them",
                     batch_size, num_samples);
    require_argument(
        static_cast<std::size_t>(num_samples) <= order_.max_size(),
        "train::Minibatches: {} samples, whose order no memory can hold; give at most {}",
        num_samples, order_.max_size());
    order_.resize(static_cast<std::size_t>(num_samples));
}

std::span<const std::ptrdiff_t> Minibatches::operator()(std::int64_t step) {
    require_argument(step >= 0, "train::Minibatches: step = {}; steps are counted from 0", step);
    require_argument(!order_.empty(),
                     "train::Minibatches: these were moved from; assign others to them");
    const std::int64_t epoch = step / per_epoch();
    if (epoch != epoch_) shuffle(epoch);
    const auto first = static_cast<std::size_t>((step % per_epoch()) * batch_size_);
    return std::span(order_).subspan(first, static_cast<std::size_t>(batch_size_));
}

/// Fisher & Yates, from the identity.
void Minibatches::shuffle(std::int64_t epoch) {
    epoch_ = epoch;
    std::iota(order_.begin(), order_.end(), std::ptrdiff_t{0});
    for (std::size_t i = order_.size(); i-- > 1;) {
        const PhiloxWords<std::uint32_t> counter{
            {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(epoch),
             static_cast<std::uint32_t>(epoch >> 32), static_cast<std::uint32_t>(i >> 32)}};
        const PhiloxWords<std::uint32_t> words = philox(counter, PhiloxKey(seed_));
        const std::uint64_t word = std::uint64_t{words.w[0]} << 32 | words.w[1];
        std::swap(order_[i], order_[static_cast<std::size_t>(word % (i + 1))]);
    }
}

}  // namespace eddy::inline v0::train
