#pragma once
// Sums over lanes of ranks that are added on devices: their rows go from device to device, not with the messages of
// the ranks. Names of rows go with these (LeafRun::named), so that each rank knows what it gets and what it adds, in
// the order in which the host adds.
// Test: tests/solve/row_carriers.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/ranks/leaf_run.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// Rows of numbers somewhere, each with a name, from 0 on. What is asked for is done in its order.
class EDDY_EXPORT RowCarrier {
  public:
    /// Another rank has stopped while this one waited for it.
    struct Stopped {};

    RowCarrier() = default;
    RowCarrier(const RowCarrier&) = delete;
    RowCarrier& operator=(const RowCarrier&) = delete;
    virtual ~RowCarrier();

    /// Are all ranks' rows added in whatever order is the fastest?
    [[nodiscard]] virtual bool is_unordered() const { return false; }
    /// A call begins, whose number is the same on all ranks. While this one waits it asks whether to go on.
    virtual void begin_call(std::int64_t, std::function<bool()> goes_on) {
        goes_on_ = std::move(goes_on);
    }
    /// Room for so many rows, which are zero.
    virtual void open(const LeafShape& shape, std::int64_t num_rows) = 0;
    /// The first of the rows, from the host.
    virtual void put(const std::vector<double>& rows) = 0;
    virtual void add(const std::vector<RowAdd>& adds) = 0;
    virtual void send(int to, const std::vector<std::int32_t>& rows) = 0;
    virtual void receive(int from, const std::vector<std::int32_t>& rows) = 0;
    /// A row of all ranks, added up: on all of them.
    virtual void add_over_all(std::int32_t row) = 0;
    /// A row, on the host, once all is done.
    [[nodiscard]] virtual std::vector<double> read(std::int32_t row) = 0;

  protected:
    /// Throws Stopped.
    void require_going_on() const {
        if (goes_on_ && !goes_on_()) throw Stopped{};
    }

  private:
    std::function<bool()> goes_on_;
};

/// What add() does, a column a thread.
struct RowAdder {
    double* rows;  // (row, column)
    std::int64_t num_columns, num_in_double;
    bool is_float;
    const RowAdd* adds;
    std::int64_t num_adds;

    EDDY_HD void operator()(std::ptrdiff_t column) const {
        const bool rounds = is_float && column >= num_in_double;
        for (std::int64_t k = 0; k < num_adds; ++k) {
            double& to = rows[adds[k].to * num_columns + column];
            const double from = rows[adds[k].from * num_columns + column];
            to = rounds ? static_cast<double>(static_cast<float>(to) + static_cast<float>(from))
                        : to + from;
        }
    }
};

}  // namespace eddy::inline v0::detail
