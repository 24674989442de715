// Formulas to nodes of a graph, by descent: a formula is operators by their precedence, between what stands
// alone.

#include "equation_parser.hpp"

#include <charconv>
#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/core/message.hpp>
#include <limits>
#include <numbers>

#include "formula_functions.hpp"

namespace eddy::inline v0::detail {
namespace {

[[nodiscard]] bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// So deep may parentheses, signs and exponents be.
constexpr int deepest = 200;

struct Operator {
    std::string_view text;
    int level = 0;  // the higher, the closer it binds
};
constexpr Operator operators[] = {  // longer ones first
    {"||", 1}, {"&&", 2}, {"<=", 3}, {">=", 3}, {"==", 3}, {"!=", 3}, {"<", 3},  {">", 3},
    {"+", 4},  {"-", 4},  {"**", 7}, {"*", 5},  {"/", 5},  {"^", 7},  {"or", 1}, {"and", 2}};
constexpr int of_comparison = 3, of_sign = 6, of_power = 7;

class Parser {
  public:
    Parser(Graph& graph, const NamedNodes& names, std::string_view text, const std::string& where)
        : graph_(graph), nodes_(graph), names_(names), text_(text), where_(where) {}

    int run(bool may_be_condition) {
        const int value = expression(0);
        if (!may_be_condition) number_at(0, value);
        skip_space();
        if (at_ < text_.size()) fail("an operator or the end of the formula");
        return value;
    }

  private:
    [[noreturn]] void fail(std::string_view expected) {
        skip_space();
        std::string found = "the end";
        if (at_ < text_.size()) {
            std::size_t end = at_ + 1;
            while (end < text_.size() && end < at_ + 20 &&
                   (is_letter(text_[at_]) || is_digit(text_[at_])) &&
                   (is_letter(text_[end]) || is_digit(text_[end])))
                ++end;
            const char c = text_[at_];
            found = c < ' ' || c > '~' ? "a byte that is no printable ASCII"
                                       : compose("'{}'", std::string(text_.substr(at_, end - at_)));
        }
        refuse(at_, compose("found {}; expected {}", found, expected));
    }
    [[noreturn]] void refuse(std::size_t position, const std::string& what) {
        require_argument(false, "parse_field: {}, position {}: {}", where_, position + 1, what);
        std::abort();  // never
    }

    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' ||
                                      text_[at_] == '\n' || text_[at_] == '\r'))
            ++at_;
    }
    [[nodiscard]] bool takes(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] std::string_view peek_word() {
        skip_space();
        std::size_t end = at_;
        if (end < text_.size() && is_letter(text_[end])) {
            while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
        }
        return text_.substr(at_, end - at_);
    }
    [[nodiscard]] Operator peek_operator() {
        const std::string_view word = peek_word(), rest = text_.substr(at_);
        for (const Operator& known : operators) {
            const bool fits =
                word.empty() ? rest.substr(0, known.text.size()) == known.text : word == known.text;
            if (fits) return known;
        }
        return {};
    }

    /// A formula of operators that bind at least as close as `level`.
    int expression(int level) {
        skip_space();
        const std::size_t begin = at_;
        if (++depth_ > deepest) refuse(at_, "deeper than 200 levels; name parts of it in `where`");
        int left = operand();
        for (Operator now = peek_operator(); now.level > 0 && now.level >= level;
             now = peek_operator()) {
            const std::size_t position = at_;
            at_ += now.text.size();
            const bool from_right = now.level == of_power;
            const int right = expression(from_right ? of_sign : now.level + 1);
            left = combine(now.text, begin, left, position, right);
        }
        --depth_;
        return left;
    }
    int operand() {
        const std::size_t begin = at_;
        if (takes('-')) {
            const std::size_t inner = at_;
            return nodes_.apply(Op::neg, number_at(inner, expression(of_sign)));
        }
        if (takes('+')) return number_at(begin, expression(of_sign));
        if (takes('!')) return negation(at_, expression(of_sign));
        if (takes('(')) {
            const int value = expression(0);
            if (!takes(')')) fail("an operator or ')'");
            return value;
        }
        if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return literal();
        const std::string_view word = peek_word();
        if (word.empty()) fail("a number, a name or '('");
        at_ += word.size();
        if (word == "not" && !next_is('(')) return negation(at_, expression(of_comparison));
        return next_is('(') ? call(begin, word) : named(begin, word);
    }
    [[nodiscard]] bool next_is(char c) {
        skip_space();
        return at_ < text_.size() && text_[at_] == c;
    }

    int literal() {
        double value = 0;
        const char* const begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range)
            refuse(at_, "the number is beyond the range of double; write one within it");
        if (error != std::errc{}) fail("a number");
        at_ += static_cast<std::size_t>(end - begin);
        return nodes_.number(value);
    }

    int number_at(std::size_t position, int value) {
        if (nodes_.is_condition(value))
            refuse(position,
                   "a condition stands where a number is needed; make one of it by "
                   "piecewise(1, condition, 0)");
        return value;
    }
    int condition_at(std::size_t position, int value) {
        if (!nodes_.is_condition(value))
            refuse(position,
                   "a number stands where a condition is needed; compare it, as in x > 0");
        return value;
    }
    int negation(std::size_t position, int value) {
        return graph_.push({.op = Op::mask_not}, condition_at(position, value));
    }
    int truth(bool holds) {
        const int zero = nodes_.number(0);
        return graph_.push({.op = Op::equal}, zero, holds ? zero : nodes_.number(1));
    }

    int combine(std::string_view text, std::size_t begin, int a, std::size_t position, int b) {
        if (text == "||" || text == "or" || text == "&&" || text == "and") {
            condition_at(begin, a);
            condition_at(position, b);
            return graph_.push(
                {.op = text[0] == '|' || text[0] == 'o' ? Op::mask_or : Op::mask_and}, a, b);
        }
        number_at(begin, a);
        number_at(position, b);
        if (text == "<" || text == "<=" || text == ">" || text == ">=" || text == "==" ||
            text == "!=")
            return compare(text, a, b);
        if (text == "^" || text == "**") return nodes_.power(a, b);
        const Op op = text == "+"   ? Op::add
                      : text == "-" ? Op::sub
                      : text == "*" ? Op::mul
                                    : Op::div;
        return nodes_.apply(op, a, b);
    }
    int compare(std::string_view text, int a, int b) {
        if (text == "<" || text == "lt") return graph_.push({.op = Op::less}, a, b);
        if (text == ">" || text == "gt") return graph_.push({.op = Op::less}, b, a);
        if (text == "<=" || text == "leq") return graph_.push({.op = Op::less_equal}, a, b);
        if (text == ">=" || text == "geq") return graph_.push({.op = Op::less_equal}, b, a);
        const int same = graph_.push({.op = Op::equal}, a, b);
        return text == "==" || text == "eq" ? same : graph_.push({.op = Op::mask_not}, same);
    }

    int named(std::size_t position, std::string_view word) {
        if (const auto known = names_.find(std::string(word)); known != names_.end())
            return known->second;
        if (word == "pi") return nodes_.number(std::numbers::pi);
        if (word == "exponentiale") return nodes_.number(std::numbers::e);
        if (word == "avogadro") return nodes_.number(6.02214076e23);
        if (word == "inf" || word == "infinity")
            return nodes_.number(std::numeric_limits<double>::infinity());
        if (word == "nan" || word == "notanumber")
            return nodes_.number(std::numeric_limits<double>::quiet_NaN());
        if (word == "true" || word == "false") return truth(word == "true");
        if (is_function(word)) {
            refuse(position,
                   compose("the function '{}' has no arguments; write them in parentheses", word));
        }
        refuse(position, compose("'{}' is no state, no parameter and no name given before; declare "
                                 "it, or mend its spelling",
                                 word.substr(0, 60)));
    }

    int call(std::size_t position, std::string_view word) {
        ++at_;
        std::vector<int> arguments;
        std::vector<std::size_t> places;
        if (!takes(')')) {
            do {
                skip_space();
                places.push_back(at_);
                arguments.push_back(expression(0));
            } while (takes(','));
            if (!takes(')')) fail("an operator, ',' or ')'");
        }
        const auto all_are = [&](bool conditions) {
            for (std::size_t k = 0; k < arguments.size(); ++k)
                conditions ? condition_at(places[k], arguments[k])
                           : number_at(places[k], arguments[k]);
        };
        if (word == "piecewise") return piecewise(position, arguments, places);
        if (word == "and" || word == "or" || word == "xor" || word == "not") {
            all_are(true);
            return connect(position, word, arguments);
        }
        if (const bool compares = word == "lt" || word == "gt" || word == "leq" || word == "geq" ||
                                  word == "eq" || word == "neq";
            compares) {
            if (arguments.size() != 2) wrong_count(position, word, "two arguments");
            all_are(false);
            return compare(word, arguments[0], arguments[1]);
        }
        all_are(false);
        const int value = call_function(nodes_, word, arguments);
        if (value >= 0) return value;
        if (is_function(word)) wrong_count(position, word, "another number of arguments");
        refuse(position,
               compose("there is no function '{}'; docs/guide/runtime_models.md lists them",
                       word.substr(0, 60)));
    }
    [[noreturn]] void wrong_count(std::size_t position, std::string_view word,
                                  std::string_view wanted) {
        refuse(position, compose("'{}' takes {}", word, wanted));
    }
    int piecewise(std::size_t position, const std::vector<int>& arguments,
                  const std::vector<std::size_t>& places) {
        if (arguments.size() < 2)
            wrong_count(position, "piecewise",
                        "a value and its condition, more of them, and what holds otherwise");
        std::size_t k = arguments.size();
        int value = k % 2 == 1 ? number_at(places[k - 1], arguments[k - 1])
                               : nodes_.number(std::numeric_limits<double>::quiet_NaN());
        k -= k % 2;
        for (; k > 0; k -= 2)
            value = nodes_.select(condition_at(places[k - 1], arguments[k - 1]),
                                  number_at(places[k - 2], arguments[k - 2]), value);
        return value;
    }
    int connect(std::size_t position, std::string_view word, const std::vector<int>& arguments) {
        if (word == "not") {
            if (arguments.size() != 1) wrong_count(position, word, "one condition");
            return graph_.push({.op = Op::mask_not}, arguments[0]);
        }
        if (arguments.empty()) return truth(word == "and");
        int value = arguments[0];
        for (std::size_t k = 1; k < arguments.size(); ++k) {
            const int other = arguments[k];
            const Op op = word == "and" ? Op::mask_and : Op::mask_or;
            const int both = word == "xor" ? graph_.push({.op = Op::mask_and}, value, other) : -1;
            value = graph_.push({.op = op}, value, other);
            if (both >= 0)
                value = graph_.push({.op = Op::mask_and}, value,
                                    graph_.push({.op = Op::mask_not}, both));
        }
        return value;
    }

    Graph& graph_;
    FormulaNodes nodes_;
    const NamedNodes& names_;
    std::string_view text_;
    const std::string& where_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

int parse_formula(Graph& graph, const NamedNodes& names, std::string_view formula,
                  const std::string& where, bool may_be_condition) {
    return Parser(graph, names, formula, where).run(may_be_condition);
}

bool is_name(std::string_view text) {
    if (text.empty() || !is_letter(text[0])) return false;
    for (const char c : text) {
        if (!is_letter(c) && !is_digit(c)) return false;
    }
    return true;
}

bool is_reserved_name(std::string_view name) {
    constexpr std::string_view words[] = {"t",     "time", "and", "or",  "not", "xor", "true",
                                          "false", "lt",   "gt",  "leq", "geq", "eq",  "neq"};
    for (const std::string_view word : words) {
        if (word == name) return true;
    }
    return false;
}

}  // namespace eddy::inline v0::detail
