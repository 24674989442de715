#pragma once
// The parameters of the lanes in the slots, as the equation reads them: one pack per component
// where each lane has its own, plain numbers that an instruction broadcasts where all lanes share
// them.

#include <eddy/solve/lane_program.hpp>
#include <vector>

namespace eddy::detail {

template <class Program>
class SeatedParameters {
    using Number = typename Program::Number;
    static constexpr bool shared = Program::shares_parameters;
    // A dual number of a single lane is not one of a pack.
    using Shared = std::conditional_t<Program::is_dual, Number, typename Program::Scalar>;

  public:
    void begin(const LaneInputs<Program>& inputs) {
        if constexpr (shared) {
            shared_.resize(Program::parameter_room);
            for (int i = 0; i < Program::parameter_size; ++i)
                shared_[static_cast<std::size_t>(i)] = broadcast(inputs.load_p(0, i));
        }
    }

    /// Puts the parameters of a lane into a slot.
    void seat(const LaneInputs<Program>& inputs, int slot, std::ptrdiff_t lane) {
        if constexpr (!shared) {
            for (int i = 0; i < Program::parameter_size; ++i)
                set_lane(own_[i], slot, inputs.load_p(lane, i));
        }
    }

    /// What f takes for p.
    [[nodiscard]] auto values() const {
        if constexpr (shared)
            return shared_.data();
        else
            return own_;
    }

  private:
    static Shared broadcast(const typename Program::Lane& x) {
        if constexpr (Program::is_dual) {
            using Part = typename Number::value_type;
            return Number{convert<Part>(x.value), convert<Part>(x.tangent)};
        } else {
            return x;
        }
    }

    Vec<Number, shared ? 1 : Program::parameter_room> own_{};
    std::vector<Shared> shared_;
};

}  // namespace eddy::detail
