// A list does what std::vector does, when a program is compiled and when it runs.

#include <eddy/core/list.hpp>
#include <memory>
#include <vector>

#include "support/catch.hpp"

namespace {

/// The same changes of both, from an empty one.
template <class Ints>
constexpr Ints changed() {
    Ints all{3, 1, 4, 1, 5};
    all.insert(all.begin() + 2, 9);
    const int more[] = {2, 6, 5};
    all.insert(all.end(), more, more + 3);
    all.insert(all.begin() + 1, more, more + 2);
    all.erase(all.begin());
    all.erase(all.begin() + 2, all.begin() + 4);
    all.resize(all.size() + 2, 7);
    all.pop_back();
    all.emplace_back(8);
    Ints copy = all, moved = std::move(copy);
    copy = moved;
    copy.assign(3, 2);
    copy.push_back(copy.front());
    moved.insert(moved.end(), copy.begin(), copy.end());
    return moved;
}
template <class Ints>
constexpr int digest_of(const Ints& all) {
    int digest = 0;
    for (const int number : all) digest = digest * 7 % 10'007 + number;
    return digest;
}
static_assert(digest_of(changed<eddy::List<int>>()) == digest_of(changed<std::vector<int>>()));

TEST_CASE("list: every change leaves what it leaves of a vector") {
    const auto list = changed<eddy::List<int>>();
    CHECK(std::vector<int>(list.begin(), list.end()) == changed<std::vector<int>>());
    CHECK(list == changed<eddy::List<int>>());
    CHECK_FALSE(list == eddy::List<int>{3, 1});
}

TEST_CASE("list: what is taken out is let go at once") {
    const auto shared = std::make_shared<int>(1);
    eddy::List<std::shared_ptr<int>> list(4, shared);
    CHECK(shared.use_count() == 5);
    list.pop_back();
    CHECK(shared.use_count() == 4);
    list.erase(list.begin());
    CHECK(shared.use_count() == 3);
    erase_if(list, [](const auto& held) { return held != nullptr; });
    CHECK(list.empty());
    CHECK(shared.use_count() == 1);
}

TEST_CASE("list: growing one by one makes room few times") {
    eddy::List<int> list;
    int moves = 0;
    const int* place = list.data();
    for (std::size_t k = 0; k < 1'000; ++k) {
        list.resize(k + 1, 0);
        moves += list.data() != place;
        place = list.data();
    }
    CHECK(moves <= 11);
}

}  // namespace
