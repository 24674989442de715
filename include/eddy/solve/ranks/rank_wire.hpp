#pragma once
// What carries messages between the processes that share a call, its ranks: MPI (backends/mpi.hpp), or threads in tests.
// Test: tests/solve/ranks.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <vector>

namespace eddy::inline v0::detail {

class EDDY_EXPORT RankWire {
  public:
    using Message = std::vector<std::byte>;

    RankWire() = default;
    RankWire(const RankWire&) = delete;
    RankWire& operator=(const RankWire&) = delete;
    virtual ~RankWire();

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int num_ranks() const = 0;
    /// Returns at once, whether or not anybody is there to take it.
    virtual void send(int to, Message message) = 0;
    /// The next message that is there, from whomever; false: none. Those of one rank come in their order.
    [[nodiscard]] virtual bool receive(int& from, Message& message) = 0;
};

}  // namespace eddy::inline v0::detail
