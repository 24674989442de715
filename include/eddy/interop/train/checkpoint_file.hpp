#pragma once
// A training on disk: weights, what the optimiser remembers, and how many steps were made. A file is
// written beside the old one and then takes its place, so that there is a whole one at every moment. One
// that is taken up again goes on bit for bit.

#include <algorithm>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/interop/train/optimizer.hpp>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace eddy::inline v0::train {
namespace detail {

struct CheckpointHeader {
    char magic[8] = {'e', 'd', 'd', 'y', 't', 'r', 'n', '1'};
    std::uint32_t bytes_per_number = 0;
    std::uint32_t byte_order = 0x01020304;
    std::uint64_t num_parameters = 0;
    std::int64_t num_steps = 0;
};

template <class T>
void write_numbers(std::ofstream& file, std::span<const T> numbers) {
    file.write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size_bytes()));
}
template <class T>
void read_numbers(std::ifstream& file, std::span<T> numbers) {
    file.read(reinterpret_cast<char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size_bytes()));
}

}  // namespace detail

/// Writes weights and optimiser to `path`. InvalidArgument where that cannot be done.
template <class Rule, class Real>
void save_checkpoint(const std::filesystem::path& path, std::span<const Real> p,
                     const Optimizer<Rule, Real>& optimizer) {
    const std::filesystem::path beside = path.string() + ".new";
    {
        std::ofstream file(beside, std::ios::binary);
        detail::CheckpointHeader header;
        header.bytes_per_number = sizeof(Real);
        header.num_parameters = p.size();
        header.num_steps = optimizer.num_steps();
        file.write(reinterpret_cast<const char*>(&header), sizeof(header));
        detail::write_numbers(file, p);
        detail::write_numbers(file, optimizer.moments());
        file.close();
        require_argument(
            !file.fail(),
            "train::save_checkpoint: \"{}\" cannot be written; is there such a folder, "
            "and room?",
            beside.string());
    }
    std::filesystem::rename(beside, path);
}

/// Reads what save_checkpoint has written, into weights and optimiser of the same size. InvalidArgument, and
/// nothing changed, where the file is another.
template <class Rule, class Real>
void load_checkpoint(const std::filesystem::path& path, std::span<Real> p,
                     Optimizer<Rule, Real>& optimizer) {
    std::ifstream file(path, std::ios::binary);
    detail::CheckpointHeader header, expected;
    file.read(reinterpret_cast<char*>(&header), sizeof(header));
    const bool is_ours = file && std::string(header.magic, 8) == std::string(expected.magic, 8) &&
                         header.byte_order == expected.byte_order;
    require_argument(is_ours,
                     "train::load_checkpoint: \"{}\" is no checkpoint of a training on a machine "
                     "like this; give a file of save_checkpoint",
                     path.string());
    require_argument(header.num_parameters == p.size() && header.bytes_per_number == sizeof(Real),
                     "train::load_checkpoint: \"{}\" has {} parameters of {} bytes; this training "
                     "has {} of {}",
                     path.string(), header.num_parameters, header.bytes_per_number, p.size(),
                     sizeof(Real));
    std::vector<Real> weights(p.size());
    std::vector<Moments<Real>> moments(p.size());
    detail::read_numbers(file, std::span(weights));
    detail::read_numbers(file, std::span(moments));
    require_argument(static_cast<bool>(file),
                     "train::load_checkpoint: \"{}\" ends too soon; it was not written to the end",
                     path.string());
    optimizer.resume(header.num_steps, moments);
    std::copy(weights.begin(), weights.end(), p.begin());
}

}  // namespace eddy::inline v0::train
