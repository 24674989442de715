#pragma once
// Tensors on disk, as Python reads and writes them: safetensors, named tensors in one file
// (https://github.com/huggingface/safetensors), and NPY, one array without a name (NumPy Enhancement
// Proposal 1). Both have a short text in front and then the numbers as they lie in memory.
// Test: tests/interop/weights_file.cpp

#include <bit>
#include <concepts>
#include <cstddef>
#include <eddy/core/error.hpp>
#include <span>
#include <string>
#include <vector>

namespace eddy::inline v0::train {

static_assert(std::endian::native == std::endian::little,
              "eddy/interop/train/tensor_file.hpp: numbers are written as they lie in memory, the "
              "lowest byte first");

/// A named tensor of a model: a view of its numbers.
template <class Real>
struct Tensor {
    std::string name;                   ///< "layers.0.weight"
    std::vector<std::ptrdiff_t> shape;  ///< (output, input)
    std::span<Real> numbers;            ///< the last index runs fastest
};

/// A tensor that came from a file. Whatever type it has there (half, bfloat16, float, double), double
/// holds its numbers exactly.
struct StoredTensor {
    std::string name;
    std::vector<std::ptrdiff_t> shape;
    std::vector<double> numbers;
};

namespace detail {

/// A safetensors file.
struct StoredTensors {
    std::vector<StoredTensor> tensors;
    std::string network;  // what they are the weights of; empty: it does not say
};

struct TensorBytes {
    std::string name;
    std::vector<std::ptrdiff_t> shape;
    std::span<const std::byte> bytes;
    std::size_t bytes_per_number;  // 4: float; 8: double
};

EDDY_EXPORT void write_safetensors(const char* where, const std::string& path,
                                   std::span<const TensorBytes> tensors,
                                   const std::string& network = {});
EDDY_EXPORT void write_npy(const char* where, const std::string& path, const TensorBytes& tensor);
[[nodiscard]] EDDY_EXPORT StoredTensors read_safetensors(const char* where,
                                                         const std::string& path);
[[nodiscard]] EDDY_EXPORT StoredTensor read_npy(const char* where, const std::string& path);
/// The numbers of tensors of these names and shapes in a safetensors file, one after another; says
/// what there is where one is missing.
[[nodiscard]] EDDY_EXPORT std::vector<double> read_tensors(const char* where,
                                                           const std::string& path,
                                                           std::span<const TensorBytes> wanted);

/// "(64, 2)"
[[nodiscard]] EDDY_EXPORT std::string shape_text(std::span<const std::ptrdiff_t> shape);

template <class Real>
[[nodiscard]] TensorBytes bytes_of(const char* where, const Tensor<Real>& tensor) {
    static_assert(std::same_as<std::remove_const_t<Real>, float> ||
                      std::same_as<std::remove_const_t<Real>, double>,
                  "train::Tensor: its numbers must be float or double");
    std::size_t count = 1;
    for (const std::ptrdiff_t size : tensor.shape) count *= static_cast<std::size_t>(size);
    require_argument(count == tensor.numbers.size(),
                     "{}: {} has {} numbers for a shape of {}; give as many as the shape has",
                     where, tensor.name, tensor.numbers.size(), shape_text(tensor.shape));
    return {tensor.name, tensor.shape, std::as_bytes(tensor.numbers), sizeof(Real)};
}
template <class Real>
[[nodiscard]] std::vector<TensorBytes> bytes_of(const char* where,
                                                const std::vector<Tensor<Real>>& tensors) {
    std::vector<TensorBytes> all;
    for (const Tensor<Real>& tensor : tensors) all.push_back(bytes_of(where, tensor));
    return all;
}

}  // namespace detail

/// Writes tensors to a safetensors file, each under its own name. The file is complete at every
/// moment: the new one is written beside the old one and then replaces it. Throws InvalidArgument
/// if the file cannot be written.
template <class Real>
void save_tensors(const std::string& path, const std::vector<Tensor<Real>>& tensors) {
    constexpr const char* where = "train::save_tensors";
    detail::write_safetensors(where, path, detail::bytes_of(where, tensors));
}

/// Reads tensors back by their names, and leaves out all others of the file. Numbers are rounded to
/// Real. If a tensor is missing or has another shape, the call throws InvalidArgument and changes
/// nothing.
template <class Real>
void load_tensors(const std::string& path, const std::vector<Tensor<Real>>& tensors) {
    constexpr const char* where = "train::load_tensors";
    const std::vector<double> numbers =
        detail::read_tensors(where, path, detail::bytes_of(where, tensors));
    const double* next = numbers.data();
    for (const Tensor<Real>& tensor : tensors) {
        for (Real& number : tensor.numbers) number = static_cast<Real>(*next++);
    }
}

}  // namespace eddy::inline v0::train
