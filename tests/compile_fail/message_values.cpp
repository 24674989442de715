// expect: a_message_needs_braces_for_each_of_its_values|MessageText<1>::MessageText. is not a constant
#include <eddy/core/error.hpp>

void require_positive(int x) {
#ifdef EDDY_BAD
    eddy::require_argument(x > 0, "f: x = {}; give at least {}", x);
#else
    eddy::require_argument(x > 0, "f: x = {}; give at least 1", x);
#endif
}
