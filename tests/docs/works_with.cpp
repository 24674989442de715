// Prints the tables of docs/guide/what_works_with_what.md, and walks all of the table that they are from.

#include <algorithm>
#include <cstdio>
#include <eddy/solve/ask/combinations.hpp>
#include <string_view>

namespace {

using namespace eddy::detail;

constexpr int num_features = static_cast<int>(Feature::no_error_estimate);
constexpr int num_refusals = static_cast<int>(Refusal::impulses_of_stealing) + 1;
constexpr int first_of_run = static_cast<int>(Refusal::backward_noise);

/// Says a "no" why, and only a "no", or what depends on the method? Are all of a row told, or none?
template <int count>
consteval bool is_whole(const Answer (&answers)[count]) {
    for (const Answer& answer : answers) {
        if ((answer.text == nullptr) != (answers[0].text == nullptr)) return false;
        const bool is_no = answer.text != nullptr && std::string_view(answer.text) == "no";
        if ((answer.why_not != Refusal::none) != (is_no || answer.but_with_estimate)) return false;
    }
    return true;
}
/// A row for each feature, in the order in which refusals are said.
consteval bool are_whole() {
    int next = 0;
    for (const Combinations& row : table::rows) {
        if (static_cast<int>(row.feature) != next++) return false;
        if (!is_whole(row.by_family) || !is_whole(row.by_machine) || !is_whole(row.by_call))
            return false;
    }
    return next == num_features;
}
static_assert(are_whole());

template <int count>
constexpr bool refuses(const Answer (&answers)[count], Refusal refusal) {
    return std::ranges::any_of(answers, [&](const Answer& is) { return is.why_not == refusal; });
}
/// Is there a call that these answers do not refuse?
template <int count>
constexpr bool leaves_some(const Answer (&answers)[count]) {
    return std::ranges::any_of(answers, [](const Answer& is) {
        return is.why_not == Refusal::none || is.but_with_estimate;
    });
}
/// Does some call meet the refusal that asks for one feature only?
consteval bool is_met(Refusal refusal) {
    return std::ranges::any_of(table::rows, [&](const Combinations& row) {
        const bool is_left = leaves_some(row.by_family);
        return refuses(row.by_family, refusal) || (is_left && refuses(row.by_machine, refusal)) ||
               (is_left && leaves_some(row.by_machine) && refuses(row.by_call, refusal));
    });
}
/// Is each met, and has a sentence of the compiler's or of a run's?
template <int refusal = 1>
consteval bool are_said() {
    if constexpr (refusal == num_refusals) {
        return true;
    } else {
        constexpr bool is_of_run = said_of(Refusal{refusal}) != nullptr;
        static_assert(is_met(Refusal{refusal}));
        static_assert(is_of_run == (refusal >= first_of_run));
        return are_said<refusal + 1>();
    }
}
static_assert(are_said());
/// A call that waits is refused nothing that only a run knows of its machine, but times of each trajectory's own and impulses:
/// these are values of options.
consteval bool is_refused_early() {
    for (const Combinations& row : table::rows) {
        if (row.feature == Feature::own_times || row.feature == Feature::own_times_of_joint ||
            row.feature == Feature::impulses)
            continue;
        for (int machine = 0; machine < static_cast<int>(Machine::asynchronous); ++machine) {
            if (static_cast<int>(row.by_machine[machine].why_not) >= first_of_run) return false;
        }
    }
    return true;
}
static_assert(is_refused_early());
// What a method estimates decides where an answer says so.
constexpr Features adaptive = Features().with(Feature::adaptive);
static_assert(refusal_of(adaptive, Family::explicit_rk, Machine::host, CallKind::solve) ==
              Refusal::none);
static_assert(refusal_of(adaptive.with(Feature::no_error_estimate), Family::explicit_rk,
                         Machine::host, CallKind::solve) == Refusal::constant_steps);

template <int count>
void print(const Answer (Combinations::*answers)[count], const char* const (&columns)[count]) {
    std::printf("|");
    for (const char* const column : columns) std::printf(" | %s", column);
    std::printf(" |\n|");
    for (int i = 0; i <= count; ++i) std::printf(" --- |");
    std::printf("\n");
    for (const Combinations& row : table::rows) {
        if ((row.*answers)[0].text == nullptr) continue;
        std::printf("| %s", row.name);
        for (const Answer& answer : row.*answers) std::printf(" | %s", answer.text);
        std::printf(" |\n");
    }
    std::printf("\n");
}

}  // namespace

int main() {
    print(&Combinations::by_family,
          {"explicit Runge–Kutta", "Rosenbrock", "Taylor, ESDIRK, IMEX, your own", "AutoSwitch",
           "SDE methods", "Langevin methods"});
    print(&Combinations::by_machine,
          {"`Serial`, `Cpu`", "`Tiles`", "`RuntimeField`, `Rows`", "`Cuda`",
           "`CudaFloatTime`, `float`", "`Cuda`, asynchronous", "`Mpi{comm, inner}`"});
    print(&Combinations::by_call,
          {"`solve`", "`pushforward`", "`value_and_gradient`", "`hessian_vector_product`",
           "`pullback`", "`differentiable_solve`"});
}
