#pragma once
// Loop bodies and stores for the tests of the checkpointed loop.

#include <array>
#include <cstdint>
#include <eddy/checkpoint/store.hpp>
#include <map>
#include <stdexcept>
#include <vector>

namespace support {

using std::int64_t;

// Writes down every step it evaluates.
struct Recorder {
    std::vector<int64_t>* order;

    double advance(double x, int64_t step) const {
        order->push_back(step);
        return x + 1;
    }
    double pullback(double, int64_t step, double cotangent) {
        order->push_back(step);
        return cotangent;
    }
};

// A nonlinear map that depends on the step and on a parameter, whose gradient it accumulates. Its
// states neither settle nor blow up, so that a wrong state anywhere changes the gradient.
struct Swirl {
    using State = std::array<double, 2>;
    double parameter = 0.9;
    double parameter_cotangent = 0;

    State advance(const State& x, int64_t step) const {
        const double forcing = 0.01 * static_cast<double>(step % 7);
        return {parameter * x[1] + forcing, 1 - 1.1 * x[1] * x[1] + 0.3 * x[0]};
    }
    State pullback(const State& x, int64_t, const State& cotangent) {
        parameter_cotangent += cotangent[0] * x[1];
        return {0.3 * cotangent[1], parameter * cotangent[0] - 2.2 * x[1] * cotangent[1]};
    }
};

// Slots in memory that hold the loop to the contract of a store.
template <class State>
class StrictStore {
  public:
    void reserve(int64_t slots) { slots_ = slots; }
    void write(int64_t slot, int64_t step, const State& state) {
        require(slot >= 0 && slot < slots_, "slot out of range");
        held_[slot] = {step, state};
    }
    const State& read(int64_t slot, int64_t step) const {
        require(held_.count(slot) == 1 && held_.at(slot).step == step,
                "read of what was not written");
        return held_.at(slot).state;
    }
    void will_read(int64_t slot, int64_t step) const { (void)read(slot, step); }
    void discard(int64_t slot) { require(held_.erase(slot) == 1, "discard of an empty slot"); }
    void release() { held_.clear(); }

    std::size_t held() const { return held_.size(); }

  private:
    struct Held {
        int64_t step;
        State state;
    };
    static void require(bool holds, const char* claim) {
        if (!holds) throw std::logic_error(claim);
    }

    int64_t slots_ = 0;
    std::map<int64_t, Held> held_;
};
static_assert(eddy::CheckpointStore<StrictStore<double>, double>);

}  // namespace support
