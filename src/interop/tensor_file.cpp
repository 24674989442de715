// Which tensor of a file is meant, and what is said where there is none.

#include <algorithm>
#include <eddy/interop/train/weights_file.hpp>
#include <filesystem>

namespace eddy::inline v0::train::detail {
namespace {

/// "layers.0.weight (64, 2), layers.0.bias (64) and 4 more"
std::string list_text(std::span<const StoredTensor> tensors) {
    constexpr std::size_t most = 6;
    std::string text;
    for (const StoredTensor& tensor : tensors.first(std::min(most, tensors.size())))
        text += (text.empty() ? "" : ", ") + tensor.name + " " + shape_text(tensor.shape);
    if (tensors.size() > most) text += " and " + std::to_string(tensors.size() - most) + " more";
    return text.empty() ? "no tensor at all" : text;
}

/// The one of a name and shape; says what there is where there is none like it.
const StoredTensor& tensor_like(const char* where, const std::string& path,
                                std::span<const StoredTensor> stored, const std::string& name,
                                std::span<const std::ptrdiff_t> shape) {
    const auto found = std::find_if(stored.begin(), stored.end(), [&](const StoredTensor& tensor) {
        return tensor.name == name;
    });
    require_argument(found != stored.end(),
                     "{}: \"{}\" has no {}, but {}; give the file of a model with the same layers",
                     where, path, name, list_text(stored));
    require_argument(
        std::equal(shape.begin(), shape.end(), found->shape.begin(), found->shape.end()),
        "{}: \"{}\": {} has shape {}, expected {}; give the file of a model with the "
        "same sizes",
        where, path, name, shape_text(found->shape), shape_text(shape));
    return *found;
}

std::vector<double> numbers_of(const char* where, const std::string& path,
                               std::span<const StoredTensor> stored,
                               std::span<const TensorBytes> wanted) {
    std::vector<double> numbers;
    for (const TensorBytes& one : wanted) {
        const StoredTensor& found = tensor_like(where, path, stored, one.name, one.shape);
        numbers.insert(numbers.end(), found.numbers.begin(), found.numbers.end());
    }
    return numbers;
}

bool is_npy(const char* where, const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    require_argument(extension == ".safetensors" || extension == ".npy",
                     "{}: \"{}\" tells no format; end it in .safetensors or .npy", where, path);
    return extension == ".npy";
}

/// Refuses a file that has tensors which the model has not.
void require_no_others(const char* where, const std::string& path,
                       std::span<const StoredTensor> stored, std::span<const TensorBytes> known) {
    for (const StoredTensor& tensor : stored) {
        require_argument(
            std::any_of(known.begin(), known.end(),
                        [&](const TensorBytes& one) { return one.name == tensor.name; }),
            "{}: \"{}\" has {} {} as well, which the network has not; give its own file, or "
            "take part of this one by train::load_tensors",
            where, path, tensor.name, shape_text(tensor.shape));
    }
}

/// Refuses a file that says it is of another network; empty: nothing is known of it.
void require_kind(const char* where, const std::string& path, const std::string& stored,
                  const std::string& expected) {
    require_argument(
        stored.empty() || expected.empty() || stored == expected,
        "{}: \"{}\" holds weights of {}, this network is {}; give its own file, or take "
        "the tensors as they are by train::load_tensors",
        where, path, stored, expected);
}

}  // namespace

std::vector<double> read_tensors(const char* where, const std::string& path,
                                 std::span<const TensorBytes> wanted) {
    return numbers_of(where, path, read_safetensors(where, path).tensors, wanted);
}

void write_weights(const char* where, const std::string& path, std::span<const TensorBytes> tensors,
                   const TensorBytes& whole, const std::string& network) {
    if (is_npy(where, path))
        write_npy(where, path, whole);
    else
        write_safetensors(where, path, tensors, network);
}

std::vector<double> read_weights(const char* where, const std::string& path,
                                 std::span<const TensorBytes> tensors, std::ptrdiff_t count,
                                 const std::string& network) {
    if (is_npy(where, path)) {
        const StoredTensor whole[] = {read_npy(where, path)};
        const std::ptrdiff_t size[] = {count};
        return tensor_like(where, path, whole, whole[0].name, size).numbers;
    }
    const auto [stored, kind] = read_safetensors(where, path);
    std::vector<double> numbers = numbers_of(where, path, stored, tensors);
    require_no_others(where, path, stored, tensors);
    require_kind(where, path, kind, network);
    return numbers;
}

}  // namespace eddy::inline v0::train::detail
