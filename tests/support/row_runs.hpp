#pragma once
// A program walked over rows, and the same interpreted, on 64 lanes of the same numbers.

#include <cstdint>
#include <eddy/trace/rows/row_program.hpp>
#include <memory>
#include <vector>

#include "support/interpret.hpp"
#include "support/same_bits.hpp"

namespace support {

inline constexpr int num_row_lanes = 64;
inline constexpr int row_widths[] = {1, 8, 16, 32, 64};

/// (component, lane) blocks of rows, tile after tile.
using Rows = std::vector<double>;

/// The tiles of a block of `size` rows: (tile, row, lane of the tile) from (row, lane).
[[nodiscard]] inline Rows to_tiles(const Rows& block, int size, int width) {
    Rows tiles;
    for (int first = 0; first < num_row_lanes; first += width) {
        for (int row = 0; row < size; ++row) {
            for (int lane = 0; lane < width; ++lane)
                tiles.push_back(
                    block[static_cast<std::size_t>(row * num_row_lanes + first + lane)]);
        }
    }
    return tiles;
}
[[nodiscard]] inline Rows from_tiles(const Rows& tiles, int size, int width) {
    Rows block(tiles.size());
    std::size_t next = 0;
    for (int first = 0; first < num_row_lanes; first += width) {
        for (int row = 0; row < size; ++row) {
            for (int lane = 0; lane < width; ++lane)
                block[static_cast<std::size_t>(row * num_row_lanes + first + lane)] = tiles[next++];
        }
    }
    return block;
}

/// The results of a list for 64 lanes in tiles of a width.
[[nodiscard]] inline std::vector<Rows> run_rows(
    const std::shared_ptr<const eddy::ProgramCode>& code, const std::vector<Rows>& arguments,
    int width) {
    eddy::RowProgram program(code, width, eddy::row_level);
    std::vector<Rows> blocks, results;
    std::vector<int> sizes = code->argument_sizes;
    sizes.insert(sizes.end(), code->result_sizes.begin(), code->result_sizes.end());
    for (std::size_t b = 0; b < sizes.size(); ++b) {
        blocks.push_back(b < arguments.size()
                             ? to_tiles(arguments[b], sizes[b], width)
                             : Rows(static_cast<std::size_t>(sizes[b] * num_row_lanes), 0.0));
    }
    for (int tile = 0; tile < num_row_lanes / width; ++tile) {
        std::vector<const double*> pointers;
        for (std::size_t b = 0; b < sizes.size(); ++b)
            pointers.push_back(blocks[b].data() + tile * sizes[b] * width);
        program.run(pointers.data());
    }
    for (std::size_t b = arguments.size(); b < sizes.size(); ++b)
        results.push_back(from_tiles(blocks[b], sizes[b], width));
    return results;
}

/// The same by the interpreter.
[[nodiscard]] inline std::vector<Rows> run_interpreted(const eddy::Graph& graph,
                                                       const std::vector<Rows>& arguments) {
    std::vector<eddy::LaneArray<double>> arrays;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
        auto& array = arrays.emplace_back(graph.arguments[a].size, num_row_lanes);
        for (int c = 0; c < array.num_components(); ++c) {
            for (int lane = 0; lane < num_row_lanes; ++lane)
                array(c, lane) = arguments[a][static_cast<std::size_t>(c * num_row_lanes + lane)];
        }
    }
    std::vector<Rows> results;
    for (const eddy::LaneArray<double>& result : eddy::interpret<double>(graph, arrays))
        results.emplace_back(result.data(),
                             result.data() + result.num_components() * num_row_lanes);
    return results;
}

/// How many numbers differ.
[[nodiscard]] inline int count_differences(const Rows& a, const Rows& b) {
    if (a.size() != b.size()) return -1;
    int differences = 0;
    for (std::size_t k = 0; k < a.size(); ++k) differences += !same_bits(a[k], b[k]);
    return differences;
}

}  // namespace support
