// Random functions: the compiled program against the interpreter against the plain call. No
// tolerance: simplification keeps every bit, and contraction is taken apart again.

#include "support/catch.hpp"
#include "support/check_program.hpp"
#include "support/random_function.hpp"
#include "support/split_contractions.hpp"

namespace {

template <support::Seed seed>
void check_random_function() {
    using Function = support::RandomFunction<seed>;
    constexpr auto program =
        eddy::trace<eddy::Scalar, eddy::Vector<Function::x_size>, eddy::Vector<Function::w_size>>(
            Function{});
    using P = std::remove_cvref_t<decltype(program)>;
    const eddy::Graph graph = P::graph.thaw(), code = P::code.thaw();
    const auto arguments = support::moderate_arguments<double>(graph.arguments, seed, 4);
    const auto expected = eddy::interpret(graph, arguments);
    INFO("seed " << seed << ", " << graph.size() << " nodes");

    CHECK(support::gives_same_bits<P>(Function{}, arguments, expected));
    CHECK(support::same_bits(eddy::interpret(support::split_contractions(code), arguments),
                             expected));
    CHECK(support::agrees_with_interpreter<double>(program, seed));
    CHECK(support::agrees_with_interpreter<float>(program, seed));
}

template <int first, int... seed>
void check_random_functions(std::integer_sequence<int, seed...>) {
    (check_random_function<static_cast<support::Seed>(first + seed)>(), ...);
}

}  // namespace

TEST_CASE("programs: 16 random functions give the same bits compiled, interpreted and called") {
    check_random_functions<0>(std::make_integer_sequence<int, 16>{});
}
