#pragma once

#include <stdexcept>

namespace fitting {

/// What the user gave cannot be used. The message says what it is and what to do.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace fitting
