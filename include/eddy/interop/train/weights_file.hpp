#pragma once
// The weights of a network on disk, for Python and from it: named tensors, two for each layer, in a
// safetensors file, or the parameter vector as one array in an NPY file. Names and shapes are those of
// PyTorch: "layers.0.weight" is (output, input), "layers.0.bias" (output). A safetensors file says as well
// what network they are of: a residual one and a plain one have the same tensors.
// Test: tests/interop/weights_file.cpp

#include <eddy/interop/train/tensor_file.hpp>
#include <eddy/trace/nn/mlp.hpp>

namespace eddy::inline v0::train {

/// The tensors of a network within its parameter vector, a contiguous range of parameter_size
/// numbers. `prefix` begins each name, such as "encoder.", so that several networks fit in one
/// file.
template <class Network, class Numbers>
[[nodiscard]] auto tensors(const Network&, Numbers&& numbers, const std::string& prefix = "") {
    const std::span p(numbers);
    using Real = typename decltype(p)::element_type;
    require_argument(p.size() == static_cast<std::size_t>(Network::parameter_size),
                     "train::tensors: {} numbers for a network of {} parameters; pass its part of "
                     "the parameter vector",
                     p.size(), Network::parameter_size);
    std::vector<Tensor<Real>> all;
    for (const auto& layer : Network::layers(p)) {
        const nn::LayerShape& shape = layer.shape;
        all.push_back(
            {prefix + layer.name + ".weight", {shape.num_outputs, shape.num_inputs}, layer.weight});
        all.push_back({prefix + layer.name + ".bias", {shape.num_outputs}, layer.bias});
    }
    return all;
}

namespace detail {

/// Writes the tensors of a network, or all its numbers as one array, as `path` ends.
EDDY_EXPORT void write_weights(const char* where, const std::string& path,
                               std::span<const TensorBytes> tensors, const TensorBytes& whole,
                               const std::string& network);
/// Reads them: `count` numbers. Refuses a file of another network.
[[nodiscard]] EDDY_EXPORT std::vector<double> read_weights(const char* where,
                                                           const std::string& path,
                                                           std::span<const TensorBytes> tensors,
                                                           std::ptrdiff_t count,
                                                           const std::string& network);

template <class Network>
[[nodiscard]] std::string kind_of() {
    if constexpr (requires { Network::kind(); })
        return Network::kind();
    else
        return {};
}

}  // namespace detail

/// Writes the weights of a network, a contiguous range of float or double, to a file. `path` ends
/// in .safetensors (named tensors) or .npy (one array of parameter_size numbers). Throws
/// InvalidArgument if the file cannot be written.
template <class Network, class Numbers>
void save_weights(const std::string& path, const Network& network, const Numbers& numbers) {
    constexpr const char* where = "train::save_weights";
    const std::span p(numbers);
    const auto all = detail::bytes_of(where, tensors(network, p));
    const detail::TensorBytes whole{"p", {std::ssize(p)}, std::as_bytes(p), sizeof(p[0])};
    detail::write_weights(where, path, all, whole, detail::kind_of<Network>());
}

/// Reads weights that `save_weights` or Python has written, in any precision, into p.
/// If the file does not fit this network, the call throws InvalidArgument and changes nothing. The
/// message names the layer, its size and the size in the file. From an NPY file only the total size
/// can be checked.
template <class Network, class Numbers>
void load_weights(const std::string& path, const Network& network, Numbers&& p) {
    constexpr const char* where = "train::load_weights";
    const std::span of_model(p);
    using Real = typename decltype(of_model)::value_type;
    const auto all = detail::bytes_of(where, tensors(network, of_model));
    const std::vector<double> numbers =
        detail::read_weights(where, path, all, std::ssize(of_model), detail::kind_of<Network>());
    // The tensors of a network lie in its parameter vector one after another.
    for (std::size_t i = 0; i < numbers.size(); ++i) of_model[i] = static_cast<Real>(numbers[i]);
}

}  // namespace eddy::inline v0::train
