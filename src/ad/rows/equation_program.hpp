#pragma once
// The program of an equation, as those see it who make further programs of it, and what they keep with its tiles.
// Test: tests/backends/row_solve.cpp

#include <atomic>
#include <cstdint>
#include <eddy/ad/split.hpp>
#include <eddy/trace/rows/program_code.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace eddy::inline v0::detail {

class EquationProgram {
  public:
    using Code = std::shared_ptr<const ProgramCode>;

    EquationProgram() = default;
    EquationProgram(const EquationProgram&) = delete;
    EquationProgram& operator=(const EquationProgram&) = delete;
    virtual ~EquationProgram() = default;

    [[nodiscard]] virtual const Graph& graph() const = 0;
    [[nodiscard]] virtual RowLevel level() const = 0;
    /// Are the numbers of p those of all lanes?
    [[nodiscard]] virtual bool shares_parameters() const = 0;
    /// f with what the way back keeps, and the pullback.
    [[nodiscard]] virtual SplitGraph split() const = 0;
    /// One of the lists made of it by a table, by whoever asks first, for all tiles.
    template <class Make>
    [[nodiscard]] Code list(const void* table, int which, const Make& make) const {
        const std::lock_guard lock(mutex_);
        Code& code = lists_[{table, which}];
        if (!code) code = std::make_shared<const ProgramCode>(make());
        return code;
    }
    /// Attempts of trajectories that have been made without a list, which takes long to make.
    [[nodiscard]] std::atomic<std::int64_t>& attempts_without() const { return attempts_without_; }
    /// True for the first tile that asks.
    [[nodiscard]] bool is_first_tile() const { return !has_tile_.exchange(true); }

  private:
    mutable std::atomic<bool> has_tile_ = false;
    mutable std::atomic<std::int64_t> attempts_without_ = 0;
    mutable std::mutex mutex_;
    mutable std::map<std::pair<const void*, int>, Code> lists_;
};

class TileGuest {
  public:
    TileGuest() = default;
    TileGuest(const TileGuest&) = delete;
    TileGuest& operator=(const TileGuest&) = delete;
    virtual ~TileGuest() = default;
    [[nodiscard]] virtual std::int64_t num_bytes() const = 0;
};
/// A tile of it, which owns it.
struct ProgramTile {
    explicit ProgramTile(const EquationProgram& of) : program(&of), is_first(of.is_first_tile()) {}

    const EquationProgram* program;
    bool is_first;  // of the equation
    std::unique_ptr<TileGuest> guest;
};

}  // namespace eddy::inline v0::detail
