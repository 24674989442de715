#pragma once
// The instructions of a level for one kind of number: vectors of 64 bytes with 32 registers, of 32 bytes with 16, or
// single numbers. A value is one vector of a row, or several that follow each other, and so is a register here: an
// instruction is written for each of them. Operands are registers and memory; which value is in which is
// machine_code.cpp's business.

#include <xbyak/xbyak.h>

#include "machine_code.hpp"
#include "row_engine.hpp"

namespace eddy::inline v0::detail {

/// Operations that are instructions, or two or three of them.
[[nodiscard]] constexpr bool is_machine_op(Op op, RowLevel level) {
    switch (op) {
        case Op::sqrt:
        case Op::abs:
        case Op::min:
        case Op::max:
        case Op::relu:
        case Op::less:
        case Op::less_equal:
        case Op::equal:
        case Op::mask_and:
        case Op::mask_or:
        case Op::mask_not:
        case Op::select: return true;
        case Op::fma: return level == RowLevel::fused;
        default: return is_row_arithmetic(op);
    }
}

class Assembler : public Xbyak::CodeGenerator {
  public:
    using Register = Xbyak::Xmm;
    using Address = Xbyak::Address;

    /// What an operation reads: a register, or memory.
    struct Operand {
        int held = -1;
        Xbyak::RegExp at{};
        bool is_shared = false;  // one number for all lanes
    };

    Assembler(std::size_t most_bytes, const MachineTarget& target, bool has_wide_vectors,
              bool takes_rows)
        : CodeGenerator(most_bytes, Xbyak::DontSetProtectRWE),
          is_single_(target.is_single),
          is_fused_(target.level == RowLevel::fused),
          target_(target),
          row_bytes_(target.width * number_bytes()) {
        bytes_ = target.width == 1                          ? number_bytes()
                 : has_wide_vectors && row_bytes_ % 64 == 0 ? 64
                                                            : 32;
        // Eight values at least stay in registers.
        if (takes_rows) num_vectors_ = std::min(row_bytes_ / bytes_, bytes_ == 64 ? 4 : 2);
    }

    [[nodiscard]] int number_bytes() const { return is_single_ ? 4 : 8; }
    [[nodiscard]] int row_bytes() const { return row_bytes_; }
    /// Of a value.
    [[nodiscard]] int value_bytes() const { return num_vectors_ * bytes_; }
    [[nodiscard]] bool is_fused() const { return is_fused_; }
    [[nodiscard]] bool is_scalar() const { return bytes_ == number_bytes(); }
    [[nodiscard]] int num_registers() const { return (bytes_ == 64 ? 32 : 16) / num_vectors_; }

    /// Only the widest vectors read one number for all lanes as an operand.
    [[nodiscard]] bool reads_shared_numbers() const { return bytes_ == 64 || is_scalar(); }

    void load(int to, const Xbyak::RegExp& at, bool is_shared) {
        for_vectors([&](int v) {
            const Address from = Xbyak::util::ptr[is_shared ? at : vector_at(at, v)];
            if (is_scalar())
                is_single_ ? vmovss(vector(to, v), from) : vmovsd(vector(to, v), from);
            else if (!is_shared)
                vmovups(vector(to, v), from);
            else if (v > 0)
                vmovaps(vector(to, v), vector(to, 0));
            else if (is_single_)
                vbroadcastss(vector(to, v), from);
            else
                bytes_ == 64 ? vbroadcastsd(Xbyak::Zmm(to * num_vectors_), from)
                             : vbroadcastsd(Xbyak::Ymm(to * num_vectors_), from);
        });
    }
    void store(const Xbyak::RegExp& at, int from) {
        for_vectors([&](int v) {
            const Address to = Xbyak::util::ptr[vector_at(at, v)];
            if (!is_scalar())
                vmovups(to, vector(from, v));
            else
                is_single_ ? vmovss(to, vector(from, v)) : vmovsd(to, vector(from, v));
        });
    }
    void copy(int to, int from) {
        if (to == from) return;
        for_vectors([&](int v) { vmovaps(vector(to, v), vector(from, v)); });
    }

    /// to = a op b. Of a difference or a quotient b alone may lie in memory.
    void arithmetic(Op op, int to, int a, const Operand& b) {
        switch (op) {
            case Op::add: return emit(sums, to, a, b);
            case Op::sub: return emit(differences, to, a, b);
            case Op::mul: return emit(products, to, a, b);
            default: return emit(quotients, to, a, b);
        }
    }
    /// sum = ±a b + sum, or a b − sum, rounded once.
    void add_product(Op op, int sum, int a, const Operand& b) {
        emit(op == Op::mul_sub       ? products_less
             : op == Op::neg_mul_add ? less_products
                                     : more_products,
             sum, a, b);
    }
    /// a = ±a b + c, or a b − c, rounded once.
    void multiply_and_add(Op op, int a, int b, const Operand& c) {
        emit(op == Op::mul_sub       ? times_less
             : op == Op::neg_mul_add ? less_times
                                     : times_more,
             a, b, c);
    }
    /// a = ±a b + c, or a b − c, rounded once, where b may lie in memory.
    void multiply_in_memory(Op op, int a, const Operand& b, int c) {
        emit(op == Op::mul_sub       ? times_memory_less
             : op == Op::neg_mul_add ? less_times_memory
                                     : times_memory_more,
             a, c, b);
    }
    /// Operations of registers alone. What is compared is kept as ones and zeros.
    void from_registers(Op op, int to, const int (&from)[3], int free) {
        for_vectors([&](int v) { from_registers(op, to, from, free, v); });
    }

    [[nodiscard]] bool is_instruction(Op op) const { return is_machine_op(op, target_.level); }
    /// A call of RowEngine::functions, whose first two arguments are in their registers. Afterwards no register of vectors
    /// is what it was.
    void call_function(Op op, int num_rows) {
        if (!is_scalar()) vzeroupper();
        xor_(edx, edx);
        mov(ecx, static_cast<std::uint32_t>(value_bytes() / number_bytes()));
        mov(r8d, static_cast<std::uint32_t>(num_rows));
        mov(rax, is_single_ ? address_of<float>(op) : address_of<double>(op));
        call(rax);
    }

    void clear(int r) { emit(exclusive, r, r, Operand{r}); }
    /// The flag of zero: is each of these numbers that are ones and zeros a zero?
    void test(int r, int zero) {
        if (bytes_ == 64) {
            is_single_ ? vcmpps(k1, vector(r, 0), constant(zeros), 4)
                       : vcmppd(k1, vector(r, 0), constant(zeros), 4);
            return kortestw(k1, k1);
        }
        if (!is_scalar()) return vptest(vector(r, 0), vector(r, 0));
        is_single_ ? vucomiss(vector(r, 0), vector(zero, 0))
                   : vucomisd(vector(r, 0), vector(zero, 0));
    }

    /// Behind all functions: numbers that these read.
    void write_constants() {
        align(64);
        L(constants_);
        const std::uint64_t sign = is_single_ ? 0x8000000080000000u : 0x8000000000000000u;
        const std::uint64_t one = is_single_ ? 0x3f8000003f800000u : 0x3ff0000000000000u;
        for (const std::uint64_t bits : {std::uint64_t{0}, one, sign, ~sign})
            for (int k = 0; k < 8; ++k) dq(bits);
    }

  private:
    // Double, single; then of single numbers.
    using Instruction = void (Xbyak::CodeGenerator::*)(const Register&, const Xbyak::Operand&,
                                                       const Xbyak::Operand&);
    using Contracted = void (Xbyak::CodeGenerator::*)(const Register&, const Register&,
                                                      const Xbyak::Operand&);
    using C = Xbyak::CodeGenerator;
#define EDDY_FORMS(name) \
    { &C::name##pd, &C::name##ps, &C::name##sd, &C::name##ss }
#define EDDY_BITS(name) \
    { &C::name##pd, &C::name##ps, &C::name##pd, &C::name##ps }
    static constexpr Instruction sums[] = EDDY_FORMS(vadd), differences[] = EDDY_FORMS(vsub),
                                 products[] = EDDY_FORMS(vmul), quotients[] = EDDY_FORMS(vdiv),
                                 lesser[] = EDDY_FORMS(vmin), greater[] = EDDY_FORMS(vmax),
                                 exclusive[] = EDDY_BITS(vxor), common[] = EDDY_BITS(vand),
                                 either[] = EDDY_BITS(vor);
    static constexpr Contracted more_products[] = EDDY_FORMS(vfmadd231),
                                products_less[] = EDDY_FORMS(vfmsub231),
                                less_products[] = EDDY_FORMS(vfnmadd231),
                                times_more[] = EDDY_FORMS(vfmadd213),
                                times_less[] = EDDY_FORMS(vfmsub213),
                                less_times[] = EDDY_FORMS(vfnmadd213),
                                times_memory_more[] = EDDY_FORMS(vfmadd132),
                                times_memory_less[] = EDDY_FORMS(vfmsub132),
                                less_times_memory[] = EDDY_FORMS(vfnmadd132);
#undef EDDY_FORMS
#undef EDDY_BITS

    template <class Real>
    [[nodiscard]] std::uint64_t address_of(Op op) const {
        const RowEngine<Real>* const wide = find_wide_engine<Real>(target_.level, target_.width);
        const auto* const engine = wide ? wide : find_engine<Real>(target_.level, target_.width);
        return reinterpret_cast<std::uint64_t>(engine->functions[static_cast<int>(op)]);
    }

    using AnyOperand = Xbyak::Operand;
    template <class Form>
    void emit(const Form (&forms)[4], const Register& d, const Register& a, const AnyOperand& b) {
        (this->*forms[(is_scalar() ? 2 : 0) + (is_single_ ? 1 : 0)])(d, a, b);
    }
    template <class Form>
    void emit(const Form (&forms)[4], int d, int a, const Operand& b) {
        for_vectors([&](int v) {
            if (b.held >= 0)
                emit(forms, vector(d, v), vector(a, v), vector(b.held, v));
            else
                emit(forms, vector(d, v), vector(a, v), memory(b, v));
        });
    }
    template <class Write>
    void for_vectors(const Write& write) const {
        for (int v = 0; v < num_vectors_; ++v) write(v);
    }
    [[nodiscard]] Register vector(int k, int v) const {
        const int which = k * num_vectors_ + v;
        if (bytes_ == 64) return Xbyak::Zmm(which);
        if (bytes_ == 32) return Xbyak::Ymm(which);
        return Xbyak::Xmm(which);
    }
    [[nodiscard]] Xbyak::RegExp vector_at(const Xbyak::RegExp& at, int v) const {
        return at + static_cast<std::size_t>(v * bytes_);
    }
    [[nodiscard]] Address memory(const Operand& of, int v) const {
        if (of.is_shared && !is_scalar()) return Xbyak::util::ptr_b[of.at];
        return Xbyak::util::ptr[vector_at(of.at, v)];
    }
    void from_registers(Op op, int to, const int (&from)[3], int of_free, int v) {
        const Register d = vector(to, v), a = vector(from[0], v), b = vector(from[1], v);
        const Register free = vector(of_free, v);
        switch (op) {
            case Op::neg: return emit(exclusive, d, a, constant(sign_bits));
            case Op::abs: return emit(common, d, a, constant(magnitude_bits));
            case Op::sqrt: return root(d, a);
            case Op::min: return emit(lesser, d, b, a);  // the second operand where either is NaN
            case Op::max: return emit(greater, d, b, a);
            case Op::relu: emit(exclusive, free, free, free); return emit(greater, d, free, a);
            case Op::less: return compare(d, a, b, 17);
            case Op::less_equal: return compare(d, a, b, 18);
            case Op::equal: return compare(d, a, b, 0);
            case Op::mask_and: return emit(common, d, a, b);
            case Op::mask_or: return emit(either, d, a, b);
            case Op::mask_not: return emit(exclusive, d, a, constant(ones));
            default: return choose(d, a, b, vector(from[2], v), free);
        }
    }
    enum Constant { zeros, ones, sign_bits, magnitude_bits };
    [[nodiscard]] Address constant(Constant which) {
        return Xbyak::util::ptr[Xbyak::util::rip + constants_ + 64 * which];
    }
    void root(const Register& d, const Register& a) {
        if (is_scalar())
            is_single_ ? vsqrtss(d, a, a) : vsqrtsd(d, a, a);
        else
            is_single_ ? vsqrtps(d, a) : vsqrtpd(d, a);
    }
    void compare(const Register& d, const Register& a, const Register& b, std::uint8_t how) {
        if (bytes_ == 64) {
            is_single_ ? vcmpps(k1, a, b, how) : vcmppd(k1, a, b, how);
            return is_single_ ? vmovups(d | k1 | T_z, constant(ones))
                              : vmovupd(d | k1 | T_z, constant(ones));
        }
        mask(d, a, b, how);
        emit(common, d, d, constant(ones));
    }
    void mask(const Register& d, const Register& a, const AnyOperand& b, std::uint8_t how) {
        if (is_scalar())
            is_single_ ? vcmpss(d, a, b, how) : vcmpsd(d, a, b, how);
        else
            is_single_ ? vcmpps(d, a, b, how) : vcmppd(d, a, b, how);
    }
    /// d = where ? a : b.
    void choose(const Register& d, const Register& where, const Register& a, const Register& b,
                const Register& free) {
        constexpr std::uint8_t differs = 4;
        if (bytes_ == 64) {
            is_single_ ? vcmpps(k1, where, constant(zeros), differs)
                       : vcmppd(k1, where, constant(zeros), differs);
            return is_single_ ? vblendmps(d | k1, b, a) : vblendmpd(d | k1, b, a);
        }
        mask(free, where, constant(zeros), differs);
        is_single_ ? vblendvps(d, b, a, free) : vblendvpd(d, b, a, free);
    }

    bool is_single_, is_fused_;
    MachineTarget target_;
    int row_bytes_, bytes_ = 0, num_vectors_ = 1;
    Xbyak::Label constants_;
};

}  // namespace eddy::inline v0::detail
