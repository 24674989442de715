#include <eddy/core/static_for.hpp>

#include "support/catch.hpp"

TEST_CASE("static_for: visits every index once and in order, also beyond one chunk") {
    constexpr int count = 1000;
    int visited = 0;
    bool in_order = true;

    eddy::static_for<0, count>([&]<int i>() {
        in_order = in_order && i == visited;
        ++visited;
    });

    CHECK(in_order);
    CHECK(visited == count);
}

TEST_CASE("static_for: an empty range calls nothing") {
    int calls = 0;
    eddy::static_for<3, 3>([&]<int>() { ++calls; });
    CHECK(calls == 0);
}
