// The arena: the same calls count bytes and hand out pieces.

#include <cstdint>
#include <cstring>
#include <eddy/solve/lane/arena.hpp>
#include <memory>
#include <new>

#include "support/catch.hpp"

using eddy::detail::Arena;

namespace {

struct Pieces {
    std::byte* flags;
    double* numbers;
    std::int64_t* none;
    float* last;
};
Pieces lay_out(Arena& arena) {
    Pieces pieces{};
    pieces.flags = arena.take<std::byte>(3);
    pieces.numbers = arena.take<double>(9);
    pieces.none = arena.take<std::int64_t>(0);
    pieces.last = arena.take<float>(1);
    return pieces;
}

}  // namespace

TEST_CASE("arena: one that counts hands out nothing") {
    Arena counting;
    const Pieces pieces = lay_out(counting);
    CHECK(pieces.flags == nullptr);
    CHECK(pieces.last == nullptr);
    CHECK(counting.num_bytes() == 64 + 128 + sizeof(float));
}

TEST_CASE("arena: pieces are aligned, apart, and within what was counted") {
    Arena counting;
    static_cast<void>(lay_out(counting));
    const std::size_t bytes = counting.num_bytes();
    struct Free {
        void operator()(std::byte* first) const {
            ::operator delete (first, std::align_val_t{Arena::alignment});
        }
    };
    const std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{Arena::alignment})));

    Arena arena(memory.get());
    const Pieces pieces = lay_out(arena);
    CHECK(arena.num_bytes() == bytes);
    for (const void* piece : {static_cast<void*>(pieces.flags), static_cast<void*>(pieces.numbers),
                              static_cast<void*>(pieces.last)})
        CHECK(reinterpret_cast<std::uintptr_t>(piece) % Arena::alignment == 0);
    std::memset(pieces.numbers, 0, 9 * sizeof(double));
    std::memset(pieces.flags, 0xff, 3);  // next to it: nothing is overwritten
    *pieces.last = 1;
    for (int i = 0; i < 9; ++i) CHECK(pieces.numbers[i] == 0);
    CHECK(reinterpret_cast<std::byte*>(pieces.last + 1) == memory.get() + bytes);
}
