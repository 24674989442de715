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

enum class WeightsFormat { safetensors, npy };

[[nodiscard]] EDDY_EXPORT WeightsFormat weights_format(const char* where, const std::string& path);
/// Refuses a file that has tensors which the model has not.
EDDY_EXPORT void require_no_others(const char* where, const std::string& path,
                                   std::span<const StoredTensor> stored,
                                   std::span<const std::string> names);
/// Refuses a file that says it is of another network; empty: nothing is known of it.
EDDY_EXPORT void require_kind(const char* where, const std::string& path, const std::string& stored,
                              const std::string& expected);

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
    const auto all = tensors(network, p);
    if (detail::weights_format(where, path) == detail::WeightsFormat::npy) {
        const typename decltype(all)::value_type whole{"p", {std::ssize(p)}, p};
        detail::write_npy(where, path, detail::bytes_of(where, whole));
        return;
    }
    std::vector<detail::TensorBytes> bytes;
    for (const auto& tensor : all) bytes.push_back(detail::bytes_of(where, tensor));
    detail::write_safetensors(where, path, bytes, detail::kind_of<Network>());
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
    const auto all = tensors(network, of_model);
    std::vector<double> numbers;
    const auto append = [&](const StoredTensor& tensor) {
        numbers.insert(numbers.end(), tensor.numbers.begin(), tensor.numbers.end());
    };
    if (detail::weights_format(where, path) == detail::WeightsFormat::npy) {
        const std::ptrdiff_t size[] = {std::ssize(of_model)};
        const StoredTensor whole[] = {detail::read_npy(where, path)};
        append(detail::tensor_like(where, path, whole, whole[0].name, size));
    } else {
        const auto [stored, kind] = detail::read_safetensors(where, path);
        std::vector<std::string> names;
        for (const auto& tensor : all) {
            append(detail::tensor_like(where, path, stored, tensor.name, tensor.shape));
            names.push_back(tensor.name);
        }
        detail::require_no_others(where, path, stored, names);
        detail::require_kind(where, path, kind, detail::kind_of<Network>());
    }
    // The tensors of a network lie in its parameter vector one after another.
    for (std::size_t i = 0; i < numbers.size(); ++i) of_model[i] = static_cast<Real>(numbers[i]);
}

}  // namespace eddy::inline v0::train
