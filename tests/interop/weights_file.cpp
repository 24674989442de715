// Weights on disk: there and back, what Python wrote, and files of other networks, cut or made up.

#include <cstdlib>
#include <cstring>
#include <eddy/interop/train/weights_file.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

namespace nn = eddy::nn;
namespace train = eddy::train;
using support::mentions;
using support::message_of;

constexpr auto network = nn::mlp<3, 5, 2>(nn::tanh);

/// A file of this test, removed with the object.
struct File {
    std::filesystem::path path;

    explicit File(const char* name)
        : path(std::filesystem::temp_directory_path() /
               ("eddy_test_weights_" + std::string(name))) {}
    ~File() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
    /// A safetensors file of this text and these bytes.
    void write_tensors(const std::string& text, const std::string& bytes) const {
        const std::uint64_t length = text.size();
        std::string front(8, '\0');
        std::memcpy(front.data(), &length, 8);
        write(front + text + bytes);
    }
    [[nodiscard]] std::string read() const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

template <class Real>
std::vector<Real> first_weights() {
    std::vector<Real> p = nn::glorot_normal<Real>(network, 3);
    p.back() = std::numeric_limits<Real>::denorm_min();
    p.front() = -std::numeric_limits<Real>::max();
    return p;
}

template <class Real>
void check_round_trip(const char* name) {
    const File file(name);
    const std::vector<Real> p = first_weights<Real>();
    train::save_weights(file.path, network, p);

    std::vector<Real> q(p.size());
    train::load_weights(file.path, network, q);

    CHECK(q == p);
}

/// The refusal of a file by a network; weights stay as they are.
template <class Network = std::remove_const_t<decltype(network)>>
std::string refusal(const File& file, const Network& of = {}) {
    std::vector<float> p(static_cast<std::size_t>(Network::parameter_size), 7);
    const std::vector<float> before = p;
    const std::string message = message_of([&] { train::load_weights(file.path, of, p); });
    CHECK(p == before);
    return message;
}

}  // namespace

TEST_CASE("weights_file: weights come back bit for bit, in both formats and precisions") {
    check_round_trip<float>("a.safetensors");
    check_round_trip<double>("a.safetensors");
    check_round_trip<float>("a.npy");
    check_round_trip<double>("a.npy");
}

TEST_CASE("weights_file: numbers of another precision are rounded once, or exact") {
    const File file("b.safetensors");
    const std::vector<double> p(static_cast<std::size_t>(network.parameter_size), 0.1);
    train::save_weights(file.path, network, p);
    std::vector<float> q(p.size());

    train::load_weights(file.path, network, q);

    for (const float x : q) CHECK(x == 0.1f);
}

TEST_CASE("weights_file: several networks share a file, each with a prefix of its own") {
    const File file("c.safetensors");
    std::vector<float> drift = nn::glorot_normal<float>(network, 1),
                       noise = nn::glorot_normal<float>(nn::mlp<3, 2, 3>(nn::tanh), 2);
    auto all = train::tensors(network, drift, "drift.");
    const auto more = train::tensors(nn::residual(nn::mlp<3, 2, 3>(nn::tanh)), noise);
    all.insert(all.end(), more.begin(), more.end());
    train::save_tensors(file.path, all);
    const std::vector<float> kept = drift;
    std::fill(drift.begin(), drift.end(), 0.f);

    train::load_tensors(file.path, train::tensors(network, drift, "drift."));

    CHECK(drift == kept);
    CHECK(mentions(refusal(file, nn::mlp<3, 2, 3>(nn::tanh)),
                   "has drift.layers.0.weight (5, 3) as well"));
}

TEST_CASE("weights_file: a file of another network names the layer and both shapes") {
    const File file("d.safetensors");
    const std::vector<float> p = first_weights<float>();
    train::save_weights(file.path, network, p);

    CHECK(mentions(refusal(file, nn::mlp<3, 5, 4>(nn::tanh)),
                   "layers.1.weight has shape (2, 5), expected (4, 5)"));
    CHECK(mentions(refusal(file, nn::mlp<3, 5, 2, 2>(nn::tanh)),
                   "has no layers.2.weight, but layers.0.weight (5, 3), layers.0.bias (5)"));
    CHECK(mentions(refusal(file, nn::mlp<3, 5>(nn::tanh)), "has layers.1.weight (2, 5) as well"));
    const File array("d.npy");
    train::save_weights(array.path, network, p);
    CHECK(mentions(refusal(array, nn::mlp<3, 5>(nn::tanh)), "has shape (32), expected (20)"));
}

TEST_CASE(
    "weights_file: a file of another kind of network is refused, tensors by themselves are not") {
    const File file("i.safetensors");
    constexpr auto plain = nn::mlp<3, 4, 3>(nn::tanh);
    constexpr auto residual = nn::residual(plain);
    constexpr auto of_relu = nn::mlp<3, 4, 3>(nn::relu);
    const std::vector<float> p = nn::glorot_normal<float>(plain, 1);

    train::save_weights(file.path, residual, p);
    CHECK(mentions(refusal(file, plain),
                   "holds weights of residual(mlp(tanh)), this network is mlp(tanh)"));
    train::save_weights(file.path, plain, p);
    CHECK(
        mentions(refusal(file, residual), "holds weights of mlp(tanh), this network is residual"));
    CHECK(
        mentions(refusal(file, of_relu), "holds weights of mlp(tanh), this network is mlp(relu)"));

    std::vector<float> q(p.size());
    train::load_tensors(file.path, train::tensors(of_relu, q));
    CHECK(q == p);
    // One without a name, or a file that does not say, is as good as any.
    const auto unnamed = [](const auto& x) { return eddy::sin(x) + x; };
    std::fill(q.begin(), q.end(), 0.f);
    train::load_weights(file.path, nn::mlp<3, 4, 3>(unnamed), q);
    CHECK(q == p);
    train::save_weights(file.path, nn::mlp<3, 4, 3>(unnamed), p);
    std::fill(q.begin(), q.end(), 0.f);
    train::load_weights(file.path, residual, q);
    CHECK(q == p);
}

TEST_CASE(
    "weights_file: names that cannot be written, and paths that tell no format, are refused") {
    const std::vector<float> p = first_weights<float>();
    const auto save = [&](const std::filesystem::path& path) {
        return message_of([&] { train::save_weights(path, network, p); });
    };

    CHECK(mentions(save("weights.h5"), "tells no format"));
    CHECK(mentions(save("/nowhere/at/all.npy"), "cannot be written"));
    CHECK(mentions(refusal(File("absent.safetensors")), "is there such a file?"));
    CHECK(mentions(
        message_of([&] { static_cast<void>(train::tensors(network, std::span(p).first(3))); }),
        "3 numbers for a network of 32 parameters"));
    const train::Tensor<const float> short_one{"w", {2, 3}, std::span(p).first(5)};
    CHECK(mentions(message_of([&] {
                       train::save_tensors(File("e.safetensors").path, std::vector{short_one});
                   }),
                   "w has 5 numbers for a shape of (2, 3)"));
}

TEST_CASE("weights_file: a file that is cut anywhere is refused") {
    for (const char* name : {"f.safetensors", "f.npy"}) {
        const File file(name);
        const std::vector<float> p = first_weights<float>();
        train::save_weights(file.path, network, p);
        const std::string whole = file.read();

        for (std::size_t length = 0; length < whole.size(); ++length) {
            file.write(whole.substr(0, length));
            CHECK(refusal(file).starts_with("train::load_weights: "));
        }
    }
}

TEST_CASE(
    "weights_file: a file with any byte of its front changed is refused, or has the same weights") {
    for (const char* name : {"k.safetensors", "k.npy"}) {
        const File file(name);
        const std::vector<float> p = first_weights<float>();
        train::save_weights(file.path, network, p);
        const std::string whole = file.read();
        const std::size_t front = whole.size() - p.size() * sizeof(float);

        int refusals = 0;
        for (std::size_t at = 0; at < front; ++at) {
            for (const int bits : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
                std::string changed = whole;
                changed[at] = static_cast<char>(changed[at] ^ bits);
                file.write(changed);
                std::vector<float> q(p.size(), 7);
                const std::string message =
                    message_of([&] { train::load_weights(file.path, network, q); });
                if (!message.empty()) {
                    ++refusals;
                    REQUIRE(message.starts_with("train::load_weights: "));
                }
                REQUIRE(q == (message.empty() ? p : std::vector<float>(p.size(), 7)));
            }
        }
        CHECK(refusals > static_cast<int>(2 * front));
    }
}

TEST_CASE("weights_file: texts that are made up are refused, and escapes understood") {
    const File file("g.safetensors");
    const auto refused = [&](const std::string& text) {
        file.write_tensors(text, std::string(16, '\0'));
        return refusal(file, nn::mlp<1, 1>(nn::tanh));
    };
    const auto tensor = [&](const std::string& of) { return refused("{\"w\":{" + of + "}}"); };

    for (const char* text :
         {"", "{", "[]", "{\"w\"}", "{\"w\":3}", "{} {}", "{\"\\", "{\"\\ud800\\u", "{\"\\u12",
          "{\"__metadata__\":{\"a\":1}}", "{\"w\":{}}"})
        CHECK(mentions(refused(text), "its header is not valid at byte"));
    CHECK(mentions(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "not valid"));
    CHECK(mentions(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "not valid"));
    CHECK(mentions(tensor(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])"), "type I64"));
    CHECK(mentions(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "lies at bytes"));
    // A shape that is refused counts as -1: no number of bytes that a tensor has, backward neither.
    CHECK(
        mentions(tensor(R"("dtype":"F32","shape":[17],"data_offsets":[20,16])"), "lies at bytes"));
    CHECK(mentions(tensor(R"("dtype":"F32","shape":[9],"data_offsets":[0,36])"), "lies at bytes"));
    CHECK(mentions(tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16])"),
                   "lies at bytes"));
    const auto two = [&](const std::string& name, const char* bytes) {
        return refused(R"({"v":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},")" + name +
                       R"(":{"dtype":"F64","shape":[1],"data_offsets":)" + bytes + "}}");
    };
    CHECK(mentions(two("w", "[0,8]"), "w begins at byte 0, the tensor before it ends at 8"));
    CHECK(mentions(two("w", "[4,12]"), "w begins at byte 4, the tensor before it ends at 8"));
    CHECK(mentions(two("v", "[8,16]"), "has two tensors called v"));
    CHECK(mentions(two("w", "[8,16]"), "has no layers.0.weight, but v (1), w (1)"));
    CHECK(mentions(tensor(R"("dtype":"F64","shape":[1],"data_offsets":[8,16])"),
                   "w begins at byte 8, the tensor before it ends at 0"));
    CHECK(mentions(tensor(R"("dtype":"F64","shape":[1],"data_offsets":[0,8])"),
                   "goes on for 8 bytes behind its tensors"));
    CHECK(mentions(
        refused(R"({"\u00e9\ud83d\ude00\n":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})"),
        "but é😀\n (2)"));
}

TEST_CASE(
    "weights_file: an array of other numbers, order, size or version is told in one sentence") {
    const File file("j.npy");
    constexpr auto of_four = nn::mlp<1, 1, 1>(nn::tanh);  // parameters
    const auto write = [&](const std::string& type, const std::string& order,
                           const std::string& shape, std::size_t num_bytes, char version) {
        const std::string text =
            "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
        std::string front = "\x93NUMPY";
        front += {version, 0, static_cast<char>(text.size()), 0};
        if (version > 1) front += {0, 0};
        file.write(front + text + std::string(num_bytes, '\0'));
    };
    const auto said = [&](auto... parts) {
        write(parts...);
        return refusal(file, of_four);
    };

    CHECK(mentions(said("'>f4'", "False", "(4,)", 16u, '\1'),
                   "holds numbers of type '>f4'; save them as '<f4' or '<f8'"));
    CHECK(mentions(said("'<i8'", "False", "(4,)", 32u, '\1'), "holds numbers of type '<i8'"));
    CHECK(mentions(said("'|O'", "False", "(4,)", 32u, '\1'), "holds numbers of type '|O'"));
    CHECK(mentions(said("'<f4'", "True", "(2, 2)", 16u, '\1'), "is in column-major order"));
    CHECK(mentions(said("'<f4'", "False", "(0,)", 0u, '\1'), "has shape (0), expected (4)"));
    CHECK(mentions(said("'<f4'", "False", "()", 4u, '\1'), "has shape (), expected (4)"));
    CHECK(mentions(said("'<f4'", "False", "(2, 2)", 16u, '\1'), "has shape (2, 2), expected (4)"));
    CHECK(mentions(said("'<f4'", "False", "(-4,)", 16u, '\1'), "is no NPY file"));
    CHECK(mentions(said("'<f4'", "False", "(4,)", 15u, '\1'), "3 numbers for a shape of (4)"));
    CHECK(mentions(said("'<f4'", "False", "(4,)", 16u, '\4'), "is no NPY file"));
    CHECK(mentions(said("'<f4'", "False", "(4,)", 17u, '\1'),
                   "goes on for 1 bytes behind its array of shape (4)"));
    CHECK(mentions(said("'<f48'", "False", "(4,)", 16u, '\1'), "holds numbers of type '<f48'"));
    std::vector<float> p(4, 7);
    write("'<f2'", "True", "(4,)", 8, '\3');  // a vector has one order
    train::load_weights(file.path, of_four, p);
    CHECK(p == std::vector<float>(4, 0.f));
}

TEST_CASE("weights_file: half precisions and fields of metadata are read") {
    const File file("h.safetensors");
    file.write_tensors(R"({"__metadata__":{"format":"pt"},)"
                       R"("layers.0.weight":{"dtype":"F16","shape":[1,1],"data_offsets":[0,2]},)"
                       R"( "layers.0.bias":{"dtype":"BF16","shape":[1],"data_offsets":[2,4]}} )",
                       std::string("\x01\xc0\x40\x3f", 4));
    std::vector<double> p(2);

    train::load_weights(file.path, nn::mlp<1, 1>(nn::tanh), p);

    CHECK(p == std::vector<double>{-(2 + 0x1p-9), 0.75});
}

// For weights_file.py: what Python wrote is taken up, and one added to each number.
TEST_CASE("weights_file: exchange with Python", "[.exchange]") {
    const std::filesystem::path folder = std::getenv("EDDY_TEST_FOLDER");
    for (const char* extension : {".safetensors", ".npy"}) {
        std::vector<float> p(static_cast<std::size_t>(network.parameter_size));
        train::load_weights((folder / "from_python").string() + extension, network, p);
        std::vector<double> q(p.begin(), p.end());
        for (double& x : q) x += 1;
        train::save_weights((folder / "from_eddy").string() + extension, network, q);
        for (float& x : p) x += 1;
        train::save_weights((folder / "single").string() + extension, network, p);
    }
}
