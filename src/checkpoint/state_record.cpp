#include <algorithm>
#include <eddy/checkpoint/state_record.hpp>
#include <eddy/core/error.hpp>

namespace eddy::inline v0::detail {
namespace {

std::string difference_text(const std::vector<StateDifference>& differences) {
    if (differences.empty()) return "";
    const StateDifference& one = differences.front();
    std::string text =
        one.component.empty() ? ": the state" : compose(": component {}", one.component);
    text += one.first.empty() ? std::string(" differs")
                              : compose(" was {} and is now {}", one.first, one.again);
    if (differences.size() > 1) text += compose(", and {} more differ", differences.size() - 1);
    return text;
}

std::string operation_text(const std::vector<NotedOperation>& operations, std::size_t k) {
    if (k >= operations.size()) return "";
    const NotedOperation& one = operations[k];
    return one.result.empty() ? one.name : compose("{} = {}", one.name, one.result);
}

/// Both lists side by side, the first line in which they differ marked.
std::string operations_text(const std::vector<NotedOperation>& first,
                            const std::vector<NotedOperation>& again) {
    const std::size_t count = std::max(first.size(), again.size());
    if (count == 0) return "";
    std::size_t width = 5;
    for (std::size_t k = 0; k < first.size(); ++k)
        width = std::max(width, operation_text(first, k).size());
    const auto row = [&](const char* mark, const std::string& left, const std::string& right) {
        return compose("\n{} {}{} | {}", mark, left, std::string(width - left.size(), ' '), right);
    };
    std::string text = row(" ", "first", "again");
    bool differs = false;
    for (std::size_t k = 0; k < count; ++k) {
        const std::string left = operation_text(first, k), right = operation_text(again, k);
        const bool is_first = !differs && left != right;
        text += row(is_first ? ">" : " ", left, right);
        differs = differs || is_first;
    }
    return text;
}

}  // namespace

std::vector<NotedOperation>*& noted_operations() noexcept {
    thread_local std::vector<NotedOperation>* noted = nullptr;
    return noted;
}

void throw_differs(std::int64_t step, const std::vector<StateDifference>& differences,
                   const std::vector<NotedOperation>& first,
                   const std::vector<NotedOperation>& again) {
    throw NonDeterministicBody(compose(
        "CheckpointedLoop: step {} gave another state when it was computed again{}; advance must "
        "depend only on the state and the step (no hidden state, no unseeded random numbers){}",
        step, difference_text(differences), operations_text(first, again)));
}

}  // namespace eddy::inline v0::detail
