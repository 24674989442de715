#include "fuzz/problem.hpp"

namespace fuzz {

const ProblemList& problems() {
    static const ProblemList all = [] {
        ProblemList list;
        add_smooth_problems(list);
        add_failing_problems(list);
        add_switching_problems(list);
        add_wide_problems(list);
        add_random_problems(list);
        return list;
    }();
    return all;
}

}  // namespace fuzz
