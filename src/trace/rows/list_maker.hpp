#pragma once
// A list of values as it grows.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <eddy/trace/op.hpp>
#include <unordered_map>

#include "scalar_list.hpp"

namespace eddy::inline v0::detail {

class ListMaker {
  public:
    int push(const ScalarValue& value) {
        list_.values.push_back(value);
        return static_cast<int>(list_.values.size()) - 1;
    }
    template <class... Operands>
    int push_op(Op op, int index, Operands... operands) {
        return push_values({op, static_cast<int>(sizeof...(operands)), {operands...}, index});
    }
    int argument(int which, int component) {
        leaves_.resize(std::max(leaves_.size(), at(which + 1)));
        std::vector<int>& of_argument = leaves_[at(which)];
        of_argument.resize(std::max(of_argument.size(), at(component + 1)), -1);
        int& known = of_argument[at(component)];
        if (known < 0) known = push({Op::argument, 0, {component}, which});
        return known;
    }
    int constant(double number) {
        const auto [entry, is_new] =
            constants_.try_emplace(std::bit_cast<std::uint64_t>(number), -1);
        if (is_new) {
            entry->second = push({Op::constant, 0, {static_cast<int>(list_.shared.size())}, 0});
            list_.shared.push_back(number);
        }
        return entry->second;
    }

    /// Operands that all lanes share are rows where there is no operation on numbers.
    int push_values(ScalarValue value) {
        using enum Op;
        const bool is_arithmetic = value.op == add || value.op == sub || value.op == mul ||
                                   value.op == div || value.op == mul_add || value.op == mul_sub ||
                                   value.op == neg_mul_add;
        if (is_arithmetic &&
            !(list_.is_shared(value.operand[0]) && list_.is_shared(value.operand[1])))
            return push(value);
        for (int k = 0; k < value.count && value.op != name; ++k) {
            const ScalarValue of = list_.values[static_cast<std::size_t>(value.operand[k])];
            if (of.op != argument || !list_.is_shared(value.operand[k])) continue;
            int& row = rows_of_shared_[value.operand[k]];
            if (row == 0) row = push({name, 1, {value.operand[k]}, 0}) + 1;
            value.operand[k] = row - 1;
        }
        return push(value);
    }

  protected:
    ScalarList list_;

  private:
    std::vector<std::vector<int>> leaves_;  // (argument, component)
    std::unordered_map<std::uint64_t, int> constants_;
    std::unordered_map<int, int> rows_of_shared_;  // (number that lanes share): its row, and one
};

/// A value of a list, or a mask, for what is written for numbers.
struct ListedNumber {
    ListMaker* list = nullptr;
    int value = -1;

    template <class... More>
    [[nodiscard]] ListedNumber made(Op op, More... more) const {
        return {list, list->push_op(op, 0, value, more.value...)};
    }
    friend ListedNumber operator-(ListedNumber a) { return a.made(Op::neg); }
    friend ListedNumber operator/(ListedNumber a, ListedNumber b) { return a.made(Op::div, b); }
    friend ListedNumber operator<(ListedNumber a, ListedNumber b) { return a.made(Op::less, b); }
    friend ListedNumber abs(ListedNumber a) { return a.made(Op::abs); }
    friend ListedNumber mul_add(ListedNumber a, ListedNumber b, ListedNumber c) {
        return a.made(Op::mul_add, b, c);
    }
    friend ListedNumber select(ListedNumber mask, ListedNumber a, ListedNumber b) {
        return mask.made(Op::select, a, b);
    }
};

}  // namespace eddy::inline v0::detail
