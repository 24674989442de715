// Tensors as other libraries make them and take them: shapes, strides, places, owners.

#include <eddy/backends/serial.hpp>
#include <eddy/interop/dlpack.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <memory>
#include <string>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

namespace dlpack = eddy::dlpack;
using support::Array;
using support::EmulatedDevice;
using support::message_of;

/// A row-major tensor as another library hands it out.
struct Foreign {
    std::vector<double> numbers;
    std::int64_t shape[2], strides[2];
    dlpack::Tensor tensor;

    explicit Foreign(const Array& array)
        : shape{array.rows(), array.cols()}, strides{array.cols(), 1} {
        for (std::ptrdiff_t lane = 0; lane < array.rows(); ++lane) {
            for (std::ptrdiff_t i = 0; i < array.cols(); ++i) numbers.push_back(array(lane, i));
        }
        tensor = {numbers.data(), {}, 2, {dlpack::floating_point, 64, 1}, shape, strides, 0};
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;
};

const Array start = support::rows({{0.3, 0.1}, {0.5, -0.2}, {1, 0}}),
            rates = support::rows({{1, 0.7}, {1.2, 0.8}, {0.4, 0.6}});
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-5};

auto view(const dlpack::Tensor& tensor) { return eddy::from_dlpack<const double>(tensor); }

}  // namespace

TEST_CASE("dlpack: a solve reads tensors and writes into one, as it does with arrays") {
    const Foreign y0(start), p(rates), y(Array(3, 2));
    const auto expected =
        eddy::solve(support::Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});
    auto solver = eddy::ensemble_solver(support::Forced{}, eddy::Bosh3{}, options, eddy::Serial{});
    const auto into = eddy::from_dlpack<double>(y.tensor);

    static_cast<void>(
        solver(view(y0.tensor), view(p.tensor), eddy::SolutionInto<double>{.y = into}));

    CHECK(support::same_array(into, expected.y()));
    CHECK(y.numbers[1] == expected.y()(0, 1));
}

TEST_CASE("dlpack: tensors of a device are used where they lie") {
    const support::DeviceArray<double> y0{start}, p{rates};
    support::DeviceArray<double> y{Array(3, 2)};
    std::int64_t shape[2]{3, 2}, strides[2]{1, 3};
    const auto tensor = [&](const support::DeviceArray<double>& array) {
        return dlpack::Tensor{const_cast<double*>(array.data()),
                              {dlpack::cuda, 0},
                              2,
                              {dlpack::floating_point, 64, 1},
                              shape,
                              strides,
                              0};
    };
    auto solver =
        eddy::ensemble_solver(support::Forced{}, eddy::Bosh3{}, options, EmulatedDevice{});
    const auto expected =
        eddy::solve(support::Forced{}, eddy::Bosh3{}, start, rates, options, eddy::Serial{});

    static_cast<void>(solver(
        eddy::from_dlpack<const double, EmulatedDevice>(tensor(y0)),
        eddy::from_dlpack<const double, EmulatedDevice>(tensor(p)),
        eddy::SolutionInto<double>{.y = eddy::from_dlpack<double, EmulatedDevice>(tensor(y))}));

    CHECK(support::same_array(y.values(), expected.y()));
    CHECK(message_of([&] { static_cast<void>(view(tensor(y0))); }) ==
          "from_dlpack: the tensor lies on a device of type 2, not on the host; name the backend "
          "that computes there, from_dlpack<double, Cuda>(tensor)");
    const Foreign here(start);
    CHECK(message_of(
              [&] { static_cast<void>(eddy::from_dlpack<double, EmulatedDevice>(here.tensor)); }) ==
          "from_dlpack: the tensor lies on a device of type 1, but the call computes on one of "
          "CUDA's; leave out the backend, or move the tensor");
}

TEST_CASE("dlpack: shapes, strides, offsets") {
    Foreign foreign(start);
    const auto rows = view(foreign.tensor);
    foreign.tensor.strides = nullptr;
    const auto compact = view(foreign.tensor);
    foreign.tensor.ndim = 1;
    const auto row = view(foreign.tensor);
    foreign.tensor.byte_offset = 2 * sizeof(double);
    const auto later = view(foreign.tensor);

    CHECK(support::same_array(rows, start));
    CHECK(support::same_array(compact, start));
    CHECK(row.num_lanes == 1);
    CHECK(row.num_components == 3);
    CHECK(row(0, 2) == start(1, 0));
    CHECK(later(0, 0) == start(1, 0));
}

TEST_CASE("dlpack: what is no (lane, component) array of these numbers is refused") {
    Foreign foreign(start);
    const auto message = [&] {
        return message_of([&] { static_cast<void>(view(foreign.tensor)); });
    };

    foreign.tensor.byte_offset = 3;
    CHECK(
        message() ==
        "from_dlpack: numbers at an address that is no multiple of 8 bytes; copy the array first");
    foreign.tensor.byte_offset = 0;
    foreign.tensor.data = nullptr;
    CHECK(message() == "from_dlpack: a tensor without data; give one whose numbers are there");
    foreign.shape[0] = -2;
    CHECK(message() == "from_dlpack: shape[0] = -2; give sizes of at least 0");
    foreign.shape[0] = 0;  // empty, and so without data
    CHECK(view(foreign.tensor).num_lanes == 0);
    foreign.tensor.ndim = 3;
    CHECK(message() ==
          "from_dlpack: a tensor of 3 dimensions; give (trajectory, component), or one row");
    foreign.tensor.ndim = 2;
    foreign.tensor.shape = nullptr;
    CHECK(message() == "from_dlpack: a tensor without a shape; give one whose sizes are there");
    const std::string wanted = "; give floating point of 64 bits, each by itself";
    foreign.tensor.dtype.bits = 32;
    CHECK(message() == "from_dlpack: numbers of type code 2 with 32 bits in vectors of 1" + wanted);
    foreign.tensor.dtype = {0, 64, 1};
    CHECK(message() == "from_dlpack: numbers of type code 0 with 64 bits in vectors of 1" + wanted);
    foreign.tensor.dtype = {dlpack::floating_point, 64, 2};
    CHECK(message() == "from_dlpack: numbers of type code 2 with 64 bits in vectors of 2" + wanted);
}

TEST_CASE("dlpack: a result is handed over, and its numbers live until the deleter is called") {
    Array array = start;
    const double* const numbers = array.data();

    auto* const managed = eddy::to_dlpack(std::move(array));

    CHECK(managed->dl_tensor.data == numbers);
    CHECK(support::same_array(eddy::from_dlpack<double>(*managed), start));
    managed->deleter(managed);

    auto owner = std::make_shared<Array>(start);
    const std::weak_ptr<Array> watched = owner;
    const eddy::EnsembleView<const double> read = std::as_const(*owner).view();
    auto* const versioned =
        eddy::to_dlpack<dlpack::ManagedTensorVersioned>(read, {dlpack::cuda, 1}, std::move(owner));
    CHECK(versioned->dl_tensor.device.device_id == 1);
    CHECK(message_of(
              [&] { static_cast<void>(eddy::from_dlpack<double, EmulatedDevice>(*versioned)); }) ==
          "from_dlpack: the tensor is read-only, but a view to be written was asked for; ask for "
          "numbers that are const");
    CHECK(eddy::from_dlpack<const double, EmulatedDevice>(*versioned).first == read.first);
    CHECK(!watched.expired());
    versioned->deleter(versioned);
    CHECK(watched.expired());
}
