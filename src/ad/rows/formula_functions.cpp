// Functions of formulas, on nodes.

#include "formula_functions.hpp"

#include <cmath>
#include <eddy/trace/apply.hpp>
#include <limits>
#include <numbers>

namespace eddy::inline v0::detail {
namespace {

/// Integer exponents up to here are repeated multiplications.
constexpr int longest_power = 64;

double compute(Op op, double a) {
    switch (op) {
        case Op::neg: return -a;
        case Op::sqrt: return eddy::apply<Op::sqrt>(a);
        case Op::cbrt: return eddy::apply<Op::cbrt>(a);
        case Op::exp: return eddy::apply<Op::exp>(a);
        case Op::expm1: return eddy::apply<Op::expm1>(a);
        case Op::log: return eddy::apply<Op::log>(a);
        case Op::log1p: return eddy::apply<Op::log1p>(a);
        case Op::sin: return eddy::apply<Op::sin>(a);
        case Op::cos: return eddy::apply<Op::cos>(a);
        case Op::tan: return eddy::apply<Op::tan>(a);
        case Op::asin: return eddy::apply<Op::asin>(a);
        case Op::acos: return eddy::apply<Op::acos>(a);
        case Op::atan: return eddy::apply<Op::atan>(a);
        case Op::sinh: return eddy::apply<Op::sinh>(a);
        case Op::cosh: return eddy::apply<Op::cosh>(a);
        case Op::tanh: return eddy::apply<Op::tanh>(a);
        case Op::erf: return eddy::apply<Op::erf>(a);
        case Op::erfc: return eddy::apply<Op::erfc>(a);
        case Op::erfcx: return eddy::apply<Op::erfcx>(a);
        case Op::log_erfc: return eddy::apply<Op::log_erfc>(a);
        case Op::digamma: return eddy::apply<Op::digamma>(a);
        case Op::lgamma: return eddy::apply<Op::lgamma>(a);
        case Op::abs: return eddy::apply<Op::abs>(a);
        case Op::sign: return eddy::apply<Op::sign>(a);
        case Op::floor: return eddy::apply<Op::floor>(a);
        case Op::sigmoid: return eddy::apply<Op::sigmoid>(a);
        case Op::softplus: return eddy::apply<Op::softplus>(a);
        default: return eddy::apply<Op::relu>(a);
    }
}
double compute(Op op, double a, double b) {
    switch (op) {
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::pow: return std::pow(a, b);
        case Op::atan2: return std::atan2(a, b);
        case Op::min: return eddy::apply<Op::min>(a, b);
        default: return eddy::apply<Op::max>(a, b);
    }
}

struct OfOne {
    std::string_view name;
    Op op;
};
constexpr OfOne of_one[] = {
    {"abs", Op::abs},         {"acos", Op::acos},         {"arccos", Op::acos},
    {"arcsin", Op::asin},     {"arctan", Op::atan},       {"asin", Op::asin},
    {"atan", Op::atan},       {"cbrt", Op::cbrt},         {"cos", Op::cos},
    {"cosh", Op::cosh},       {"erf", Op::erf},           {"erfc", Op::erfc},
    {"erfcx", Op::erfcx},     {"log_erfc", Op::log_erfc}, {"digamma", Op::digamma},
    {"exp", Op::exp},         {"expm1", Op::expm1},       {"fabs", Op::abs},
    {"floor", Op::floor},     {"lgamma", Op::lgamma},     {"ln", Op::log},
    {"log", Op::log},         {"log1p", Op::log1p},       {"relu", Op::relu},
    {"sigmoid", Op::sigmoid}, {"sign", Op::sign},         {"sin", Op::sin},
    {"sinh", Op::sinh},       {"softplus", Op::softplus}, {"sqrt", Op::sqrt},
    {"root", Op::sqrt},       {"tan", Op::tan},           {"tanh", Op::tanh}};

int call_one(FormulaNodes& nodes, std::string_view name, int x) {
    for (const OfOne& known : of_one) {
        if (known.name == name) return nodes.apply(known.op, x);
    }
    const auto one = [&] { return nodes.number(1); };
    const auto reciprocal = [&](Op op) { return nodes.apply(Op::div, one(), nodes.apply(op, x)); };
    const auto square = [&] { return nodes.apply(Op::mul, x, x); };
    if (name == "ceil" || name == "ceiling")
        return nodes.apply(Op::neg, nodes.apply(Op::floor, nodes.apply(Op::neg, x)));
    if (name == "log10")
        return nodes.apply(Op::div, nodes.apply(Op::log, x), nodes.number(std::numbers::ln10));
    if (name == "log2")
        return nodes.apply(Op::div, nodes.apply(Op::log, x), nodes.number(std::numbers::ln2));
    if (name == "exp2") return nodes.apply(Op::pow, nodes.number(2), x);
    if (name == "sqr") return square();
    if (name == "sec") return reciprocal(Op::cos);
    if (name == "csc") return reciprocal(Op::sin);
    if (name == "cot") return reciprocal(Op::tan);
    if (name == "factorial")
        return nodes.apply(Op::exp, nodes.apply(Op::lgamma, nodes.apply(Op::add, x, one())));
    if (name == "asinh" || name == "arcsinh") {  // without cancellation near zero, odd
        const int size = nodes.apply(Op::abs, x);
        const int root = nodes.apply(Op::sqrt, nodes.apply(Op::add, square(), one()));
        const int part = nodes.apply(Op::div, square(), nodes.apply(Op::add, root, one()));
        return nodes.apply(Op::mul, nodes.apply(Op::sign, x),
                           nodes.apply(Op::log1p, nodes.apply(Op::add, size, part)));
    }
    if (name == "acosh" || name == "arccosh") {
        const int root = nodes.apply(Op::sqrt, nodes.apply(Op::sub, square(), one()));
        return nodes.apply(Op::log, nodes.apply(Op::add, x, root));
    }
    if (name == "atanh" || name == "arctanh") {
        const int up = nodes.apply(Op::log1p, x);
        const int down = nodes.apply(Op::log1p, nodes.apply(Op::neg, x));
        return nodes.apply(Op::mul, nodes.number(0.5), nodes.apply(Op::sub, up, down));
    }
    return -1;
}

int call_two(FormulaNodes& nodes, std::string_view name, int a, int b) {
    if (name == "pow" || name == "power") return nodes.power(a, b);
    if (name == "atan2") return nodes.apply(Op::atan2, a, b);
    if (name == "log")  // log(base, x)
        return nodes.apply(Op::div, nodes.apply(Op::log, b), nodes.apply(Op::log, a));
    if (name == "root") {  // root(degree, x)
        if (nodes.is_number(a) && nodes.value_of(a) == 2) return nodes.apply(Op::sqrt, b);
        if (nodes.is_number(a) && nodes.value_of(a) == 3) return nodes.apply(Op::cbrt, b);
        return nodes.power(b, nodes.apply(Op::div, nodes.number(1), a));
    }
    if (name == "hypot")
        return nodes.apply(
            Op::sqrt, nodes.apply(Op::add, nodes.apply(Op::mul, a, a), nodes.apply(Op::mul, b, b)));
    return -1;
}

}  // namespace

int FormulaNodes::apply(Op op, int a) {
    return is_number(a) ? number(compute(op, value_of(a))) : graph_.push({.op = op}, a);
}
int FormulaNodes::apply(Op op, int a, int b) {
    if (!is_mask(op) && is_number(a) && is_number(b))
        return number(compute(op, value_of(a), value_of(b)));
    return graph_.push({.op = op}, a, b);
}

int FormulaNodes::power(int base, int exponent) {
    if (!is_number(base) && is_number(exponent)) {
        const double wanted = value_of(exponent);
        if (wanted == 0) return number(1);
        if (std::abs(wanted) <= longest_power && wanted == std::floor(wanted))
            return graph_.push({.op = Op::powi, .index = static_cast<int>(wanted)}, base);
    }
    return apply(Op::pow, base, exponent);
}

int call_function(FormulaNodes& nodes, std::string_view name, const std::vector<int>& arguments) {
    if (!arguments.empty() && (name == "min" || name == "max")) {
        int result = arguments[0];
        for (std::size_t k = 1; k < arguments.size(); ++k)
            result = nodes.apply(name == "min" ? Op::min : Op::max, result, arguments[k]);
        return result;
    }
    if (arguments.size() == 1) return call_one(nodes, name, arguments[0]);
    if (arguments.size() == 2) return call_two(nodes, name, arguments[0], arguments[1]);
    return -1;
}

bool is_function(std::string_view name) {
    if (name == "min" || name == "max" || name == "piecewise") return true;
    Graph graph;
    FormulaNodes nodes(graph);
    const int x = nodes.number(0.5);
    return call_one(nodes, name, x) >= 0 || call_two(nodes, name, x, x) >= 0;
}

}  // namespace eddy::inline v0::detail
