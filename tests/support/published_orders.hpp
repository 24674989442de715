#pragma once
// The evaluation orders of the backward sweep that tests/test_while_loop.py of
// patrick-kidger/equinox publishes, as facts: (checkpoints, steps) and the steps evaluated. Those
// with 4 checkpoints are Fig. 2.2 of Stumm & Walther 2010, with its number of steps lowered by one.

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace support {

struct PublishedOrder {
    std::int64_t checkpoints, steps;
    const char* order;
};

inline constexpr PublishedOrder published_orders[] = {
    {1, 3, "0 1 2 0 1 0"},
    {1, 5, "0 1 2 3 4 0 1 2 3 0 1 2 0 1 0"},
    {2, 8, "7 0 1 2 3 4 5 6 3 4 5 3 4 3 0 1 2 1 0"},
    {3, 11, "10 4 5 6 7 8 9 7 8 7 4 5 6 5 4 0 1 2 3 2 1 0"},
    {9, 5, "4 3 2 1 0"},
    {2, 5, "3 4 3 0 1 2 1 0"},
    {4, 4, "3 2 1 0"},
    {4, 5, "3 4 3 2 1 0"},
    {4, 6, "5 2 3 4 3 2 1 0"},
    {4, 7, "6 5 2 3 4 3 2 0 1 0"},
    {4, 8, "7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 9, "7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 10, "9 6 7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 11, "10 9 5 6 7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 12, "10 11 10 9 5 6 7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 13, "12 9 10 11 10 9 5 6 7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
    {4, 14, "12 13 12 9 10 11 10 9 5 6 7 8 7 6 5 0 1 2 3 4 3 2 1 0"},
};

inline std::vector<std::int64_t> parse_order(const std::string& text) {
    std::istringstream words(text);
    std::vector<std::int64_t> steps;
    for (std::int64_t step; words >> step;) steps.push_back(step);
    return steps;
}

}  // namespace support
