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
template <class Real>
using RowsOf = std::vector<Real>;
using Rows = RowsOf<double>;

/// The tiles of a block of `size` rows: (tile, row, lane of the tile) from (row, lane).
template <class Real>
[[nodiscard]] RowsOf<Real> to_tiles(const RowsOf<Real>& block, int size, int width) {
    RowsOf<Real> tiles;
    for (int first = 0; first < num_row_lanes; first += width) {
        for (int row = 0; row < size; ++row) {
            for (int lane = 0; lane < width; ++lane)
                tiles.push_back(
                    block[static_cast<std::size_t>(row * num_row_lanes + first + lane)]);
        }
    }
    return tiles;
}
template <class Real>
[[nodiscard]] RowsOf<Real> from_tiles(const RowsOf<Real>& tiles, int size, int width) {
    RowsOf<Real> block(tiles.size());
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
template <class Real>
[[nodiscard]] std::vector<RowsOf<Real>> run_rows(
    const std::shared_ptr<const eddy::ProgramCode>& code,
    const std::vector<RowsOf<Real>>& arguments, int width,
    eddy::MachineCodeUse use = eddy::MachineCodeUse::where_possible,
    eddy::RowLevel level = eddy::row_level) {
    eddy::RowProgramOf<Real> program(code, width, level, use);
    std::vector<RowsOf<Real>> blocks, results;
    std::vector<int> sizes = code->argument_sizes;
    sizes.insert(sizes.end(), code->result_sizes.begin(), code->result_sizes.end());
    for (std::size_t b = 0; b < sizes.size(); ++b) {
        blocks.push_back(b < arguments.size()
                             ? to_tiles(arguments[b], sizes[b], width)
                             : RowsOf<Real>(static_cast<std::size_t>(sizes[b] * num_row_lanes)));
    }
    for (int tile = 0; tile < num_row_lanes / width; ++tile) {
        std::vector<const Real*> pointers;
        for (std::size_t b = 0; b < sizes.size(); ++b)
            pointers.push_back(blocks[b].data() + tile * sizes[b] * width);
        program.run(pointers.data());
    }
    for (std::size_t b = arguments.size(); b < sizes.size(); ++b)
        results.push_back(from_tiles(blocks[b], sizes[b], width));
    return results;
}

/// The same by the interpreter.
template <class Real>
[[nodiscard]] std::vector<RowsOf<Real>> run_interpreted(
    const eddy::Graph& graph, const std::vector<RowsOf<Real>>& arguments) {
    std::vector<eddy::LaneArray<Real>> arrays;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
        auto& array = arrays.emplace_back(graph.arguments[a].size, num_row_lanes);
        for (int c = 0; c < array.num_components(); ++c) {
            for (int lane = 0; lane < num_row_lanes; ++lane)
                array(c, lane) = arguments[a][static_cast<std::size_t>(c * num_row_lanes + lane)];
        }
    }
    std::vector<RowsOf<Real>> results;
    for (const eddy::LaneArray<Real>& result : eddy::interpret<Real>(graph, arrays))
        results.emplace_back(result.data(),
                             result.data() + result.num_components() * num_row_lanes);
    return results;
}

/// How many numbers differ.
template <class Real>
[[nodiscard]] int count_differences(const RowsOf<Real>& a, const RowsOf<Real>& b) {
    if (a.size() != b.size()) return -1;
    int differences = 0;
    for (std::size_t k = 0; k < a.size(); ++k) differences += !same_bits(a[k], b[k]);
    return differences;
}

}  // namespace support
