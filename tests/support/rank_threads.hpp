#pragma once
// Threads that stand for the processes of a cluster: a backend whose ranks they are.

#include <eddy/solve/ranks/local_ranks.hpp>
#include <memory>

namespace support {

using eddy::detail::run_local_ranks;

/// As eddy::Mpi, for threads.
template <class Inner>
struct ThreadRanks {
    struct backend_tag {};
    Inner inner;
    std::shared_ptr<eddy::detail::RankGroup> group;

    [[nodiscard]] eddy::detail::RankLink ranks() const { return eddy::detail::RankLink(group); }
};

}  // namespace support
