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

}  // namespace

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

WeightsFormat weights_format(const char* where, const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    require_argument(extension == ".safetensors" || extension == ".npy",
                     "{}: \"{}\" tells no format; end it in .safetensors or .npy", where, path);
    return extension == ".npy" ? WeightsFormat::npy : WeightsFormat::safetensors;
}

void require_no_others(const char* where, const std::string& path,
                       std::span<const StoredTensor> stored, std::span<const std::string> names) {
    for (const StoredTensor& tensor : stored) {
        require_argument(
            std::find(names.begin(), names.end(), tensor.name) != names.end(),
            "{}: \"{}\" has {} {} as well, which the network has not; give its own file, or "
            "take part of this one by train::load_tensors",
            where, path, tensor.name, shape_text(tensor.shape));
    }
}

void require_kind(const char* where, const std::string& path, const std::string& stored,
                  const std::string& expected) {
    require_argument(
        stored.empty() || expected.empty() || stored == expected,
        "{}: \"{}\" holds weights of {}, this network is {}; give its own file, or take "
        "the tensors as they are by train::load_tensors",
        where, path, stored, expected);
}

}  // namespace eddy::inline v0::train::detail
