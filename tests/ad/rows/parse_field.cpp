// Equations as text: what they mean, what is said of a mistake, and that no text crashes.

#include <cmath>
#include <eddy/ad/rows/parse_field.hpp>
#include <eddy/trace/print.hpp>
#include <numbers>

#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

namespace {

using eddy::FieldText;
using eddy::parse_field;

/// A formula of x = 0.7, a = 3 and t = 2.
double value(const std::string& formula) {
    const eddy::RuntimeField field =
        parse_field({.states = {"x"}, .parameters = {"a"}, .equations = {formula}});
    const double t = 2, x = 0.7, a = 3;
    double dy = 0;
    field.maker()->on_tile(1)->f(&t, &x, &a, &dy);
    return dy;
}
std::string message(const std::string& formula) {
    return support::message_of(
        [&] { (void)parse_field({.states = {"x"}, .parameters = {"a"}, .equations = {formula}}); });
}
std::string all_text(const FieldText& text) {
    std::string all;
    for (const auto& part : text.where) all += part.name + " = " + part.formula + "\n";
    for (const auto& equation : text.equations) all += equation + "\n";
    for (const auto& part : text.observables) all += part.name + " = " + part.formula + "\n";
    return all;
}
/// Is a text of a program the text of the same program?
bool comes_back(const eddy::RuntimeField& field) {
    const FieldText text = eddy::to_text(field);
    const eddy::RuntimeField again = parse_field(text);
    return eddy::to_text(again.graph()) == eddy::to_text(field.graph()) &&
           eddy::to_text(again.observables()) == eddy::to_text(field.observables()) &&
           all_text(eddy::to_text(again)) == all_text(text);
}

}  // namespace

TEST_CASE("parse_field: Lotka and Volterra") {
    const eddy::RuntimeField lotka = parse_field({.states = {"x", "y"},
                                                  .parameters = {"a", "b", "c", "d"},
                                                  .equations = {"a*x - b*x*y", "-c*y + d*x*y"}});
    const double t = 0, y[] = {2, 3}, p[] = {1.5, 1, 3, 0.5};
    double dy[2] = {};

    lotka.maker()->on_tile(1)->f(&t, y, p, dy);

    CHECK(lotka.num_states() == 2);
    CHECK(lotka.num_parameters() == 4);
    CHECK_FALSE(lotka.reads_time());
    CHECK(dy[0] == 1.5 * 2 - 2 * 3);
    CHECK(dy[1] == -3.0 * 3 + 0.5 * 2 * 3);
    CHECK(comes_back(lotka));
}

TEST_CASE("parse_field: operators bind as they do in mathematics") {
    CHECK(value("1 + 2*3 - 8/4/2") == 6);
    CHECK(value("-2^2") == -4);
    CHECK(value("2^3^2") == 512);
    CHECK(value("2^-1") == 0.5);
    CHECK(value("2*-a") == -6);
    CHECK(value("(1 + 2)*3") == 9);
    CHECK(value("a**2") == 9);
    CHECK(value("1e-3 + .5 + 2.") == 2.501);
    CHECK(value("t*time") == 4);
    CHECK(value("piecewise(1, not a < 2 and t >= 2 or false, 0)") == 1);
    CHECK(value("piecewise(1, !(a < 2) && t != 2 || x == 0.7, 0)") == 1);
}

TEST_CASE("parse_field: functions of C and of SBML") {
    const auto near = [](const std::string& formula, double expected) {
        INFO(formula);
        CHECK(std::abs(value(formula) - expected) <= 4e-15 * std::abs(expected));
    };
    near("exp(x) + ln(x) + log(x)", std::exp(0.7) + 2 * std::log(0.7));
    near("log10(x) + log(2, x) + log2(x)", std::log10(0.7) + 2 * std::log2(0.7));
    near("sin(x) + cos(x) + tan(x)", std::sin(0.7) + std::cos(0.7) + std::tan(0.7));
    near("asin(x) + arccos(x) + atan(x)", std::asin(0.7) + std::acos(0.7) + std::atan(0.7));
    near("sinh(x) + cosh(x) + tanh(x)", std::sinh(0.7) + std::cosh(0.7) + std::tanh(0.7));
    near("asinh(x)", std::asinh(0.7));
    near("asinh(-1e-9*x)", -0.7e-9);
    near("acosh(a)", std::acosh(3.0));
    near("atanh(x)", std::atanh(0.7));
    near("sqrt(x) + cbrt(x) + root(4, x) + root(3, x)",
         std::sqrt(0.7) + 2 * std::cbrt(0.7) + std::pow(0.7, 0.25));
    near("pow(x, a) + x^2.5 + x^-2", std::pow(0.7, 3) + std::pow(0.7, 2.5) + std::pow(0.7, -2));
    near("abs(-x) + floor(a*x) + ceil(x) + sign(-a)", 0.7 + 2 + 1 - 1);
    near("min(a, x, t) + max(a, x, t)", 3.7);
    near("factorial(a + 1)", 24);
    near("sec(x) + csc(x) + cot(x)", 1 / std::cos(0.7) + 1 / std::sin(0.7) + 1 / std::tan(0.7));
    near("atan2(x, a) + hypot(x, a)", std::atan2(0.7, 3) + std::hypot(0.7, 3));
    near("pi + exponentiale", std::numbers::pi + std::numbers::e);
    near("piecewise(1, lt(a, x), 2, gt(a, 2), 3)", 2);
    near("piecewise(1, xor(true, geq(a, 3)), 2, and(neq(x, 0), not(eq(a, 2))), 3)", 2);
    CHECK(std::isnan(value("piecewise(1, a < x)")));
}

TEST_CASE("parse_field: named parts, observables and time") {
    const eddy::RuntimeField field =
        parse_field({.states = {"x"},
                     .parameters = {"k"},
                     .where = {{"rate", "k*x/(1 + x)"}, {"is_late", "t > 1"}},
                     .equations = {"-piecewise(2*rate, is_late, rate)"},
                     .observables = {{"flow", "rate"}, {"twice", "2*rate"}}});
    const double t = 2, x = 3, k = 4;
    double dy = 0;

    field.maker()->on_tile(1)->f(&t, &x, &k, &dy);

    CHECK(dy == -6);
    CHECK(field.reads_time());
    CHECK(field.names().observables == std::vector<std::string>{"flow", "twice"});
    CHECK(field.observables().outputs.size() == 2);
    CHECK(comes_back(field));
}

TEST_CASE("parse_field: a mistake is told with its position and what was expected") {
    CHECK(message("a*") ==
          "parse_field: the equation of 'x', position 3: found the end; expected "
          "a number, a name or '('");
    CHECK(message("a*)") ==
          "parse_field: the equation of 'x', position 3: found ')'; expected a "
          "number, a name or '('");
    CHECK(message("(a + x") ==
          "parse_field: the equation of 'x', position 7: found the end; "
          "expected an operator or ')'");
    CHECK(message("a x") ==
          "parse_field: the equation of 'x', position 3: found 'x'; expected an "
          "operator or the end of the formula");
    CHECK(message("a + b") ==
          "parse_field: the equation of 'x', position 5: 'b' is no state, no "
          "parameter and no name given before; declare it, or mend its "
          "spelling");
    CHECK(message("foo(a)") ==
          "parse_field: the equation of 'x', position 1: there is no function "
          "'foo'; docs/guide/runtime_models.md lists them");
    CHECK(message("exp") ==
          "parse_field: the equation of 'x', position 1: the function 'exp' has "
          "no arguments; write them in parentheses");
    CHECK(message("exp(a, x)") ==
          "parse_field: the equation of 'x', position 1: 'exp' takes "
          "another number of arguments");
    CHECK(message("a < x") ==
          "parse_field: the equation of 'x', position 1: a condition stands "
          "where a number is needed; make one of it by piecewise(1, condition, "
          "0)");
    CHECK(message("piecewise(1, a, 0)") ==
          "parse_field: the equation of 'x', position 14: a number stands where a condition is "
          "needed; compare it, as in x > 0");
    CHECK(message("1e999") ==
          "parse_field: the equation of 'x', position 1: the number is beyond "
          "the range of double; write one within it");
    CHECK(message(std::string(100'000, '(')) ==
          "parse_field: the equation of 'x', position 201: deeper than 200 levels; name parts of "
          "it in `where`");
    CHECK(message("\x80") ==
          "parse_field: the equation of 'x', position 1: found a byte that is no "
          "printable ASCII; expected a number, a name or '('");
    const auto of = [](const FieldText& text) {
        return support::message_of([&] { (void)parse_field(text); });
    };
    CHECK(of({.states = {"x"}}) == "parse_field: 0 equations for 1 states; give one for each");
    CHECK(of({.states = {"x", "x"}, .equations = {"0", "0"}}) ==
          "parse_field: the state 'x' has a name that is given before; take another");
    CHECK(of({.states = {"2x"}, .equations = {"0"}}) ==
          "parse_field: the state '2x' is no name; take letters, digits and _, a letter first");
    CHECK(of({.states = {"t"}, .equations = {"0"}}) ==
          "parse_field: the state 't' means something else in formulas; take another name");
}

TEST_CASE("parse_field: random programs come back from their text, and junk is refused") {
    const char* const words[] = {
        "x",  "a",    "t",     "1",          "2.5",  "-0.0", "1e-7", "x",      "a",
        "3",  "(",    ")",     "(",          ")",    ",",    "+",    "-",      "*",
        "/",  "^",    "<",     ">=",         "&&",   "||",   "!",    "not",    "and",
        "==", "exp(", "sqrt(", "piecewise(", "min(", "pow(", " ",    "atan2(", "sin("};
    support::Random random(1);
    int num_parsed = 0;
    for (int k = 0; k < 20'000; ++k) {
        std::string formula;
        for (int length = 1 + random.below(12); length > 0; --length)
            formula += words[random.below(static_cast<int>(std::size(words)))];
        try {
            const eddy::RuntimeField field =
                parse_field({.states = {"x"}, .parameters = {"a"}, .equations = {formula}});
            ++num_parsed;
            INFO(formula);
            if (!comes_back(field)) CHECK(false);
        } catch (const eddy::InvalidArgument&) {
        }
    }
    CHECK(num_parsed > 500);
}

TEST_CASE("parse_field: 100,000 characters of junk never crash") {
    support::Random random(2);
    const std::string some = "xat0123456789.eE+-*/^(),<>=!&|  pow min";
    for (int k = 0; k < 20; ++k) {
        std::string junk;
        for (int c = 0; c < 100'000; ++c)
            junk +=
                k % 2 == 0
                    ? static_cast<char>(random.below(256))
                    : some[static_cast<std::size_t>(random.below(static_cast<int>(some.size())))];
        CHECK(message(junk) != "");
    }
    std::string sum = "x";
    for (int c = 0; c < 25'000; ++c) sum += " + x";
    CHECK(value(sum) > 17'500);
    CHECK(message(std::string(100'000, '-') + "x") != "");
}
