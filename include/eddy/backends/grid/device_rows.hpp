#pragma once
// The rows of sums over lanes in the memory of a device (solve/ranks/row_carrier.hpp). A link brings them from device to
// device: that of NCCL in the order of a stream (nccl/nccl_link.hpp), that of an MPI that takes such memory when it is
// asked (mpi/mpi_link.hpp).
// Test: tests/solve/row_carriers.cpp

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/runtime.hpp>
#include <eddy/solve/ranks/row_carrier.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// What DeviceRows asks of a link. One that does not follow the stream works when it is asked.
template <class Link, class Stream>
concept DeviceLink = requires(Link link, double* row, std::int64_t count, int rank, Stream stream) {
    { Link::follows_stream } -> std::convertible_to<bool>;
    { link.is_unordered() } -> std::same_as<bool>;
    link.begin_call(count);
    link.begin();  // what follows goes together
    link.send(rank, row, count, stream);
    link.receive(rank, row, count, stream);
    link.add_over_all(row, count, stream);
    link.end();
    { link.is_done() } -> std::same_as<bool>;  // throws where something has failed
    link.abort();                              // it waits for nobody any more
};

template <class Runtime, class Link>
requires DeviceLink<Link, typename Runtime::Stream>
class DeviceRows final : public RowCarrier {
    using Stream = typename Runtime::Stream;

  public:
    DeviceRows(int device, Stream stream, Link link)
        : device_(device), stream_(stream), link_(std::move(link)) {}
    ~DeviceRows() override {
        int before = 0;
        if (Runtime::current_device(before) != 0 || Runtime::use_device(device_) != 0) return;
        for (const Piece* piece : {&rows_, &adds_}) {
            if (piece->first) Runtime::release(piece->first);
        }
        static_cast<void>(Runtime::use_device(before));
    }
    [[nodiscard]] bool is_unordered() const override { return link_.is_unordered(); }

    void begin_call(std::int64_t number, std::function<bool()> goes_on) override {
        RowCarrier::begin_call(number, std::move(goes_on));
        link_.begin_call(number);
    }
    void open(const LeafShape& shape, std::int64_t num_rows) override {
        const DeviceInUse<Runtime> in_use(device_);
        shape_ = shape;
        const auto num_bytes =
            static_cast<std::size_t>(num_rows * shape.num_columns) * sizeof(double);
        reserve(rows_, num_bytes);
        require_done<Runtime>(Runtime::clear(rows_.first, num_bytes, stream_), "writing zeros");
    }
    void put(const std::vector<double>& rows) override { copy_in(rows_.first, rows); }
    void add(const std::vector<RowAdd>& adds) override {
        if (adds.empty()) return;
        const DeviceInUse<Runtime> in_use(device_);
        reserve(adds_, adds.size() * sizeof(RowAdd));
        copy_in(adds_.first, adds);
        const RowAdder adder{row(0),
                             shape_.num_columns,
                             shape_.num_in_double,
                             shape_.is_float,
                             static_cast<const RowAdd*>(adds_.first),
                             static_cast<std::int64_t>(adds.size())};
        require_done<Runtime>(Runtime::for_each(shape_.num_columns, adder, stream_),
                              "adding rows of ranks");
    }
    void send(int to, const std::vector<std::int32_t>& rows) override {
        together([&] {
            for (const std::int32_t name : rows)
                link_.send(to, row(name), shape_.num_columns, stream_);
        });
    }
    void receive(int from, const std::vector<std::int32_t>& rows) override {
        together([&] {
            for (const std::int32_t name : rows)
                link_.receive(from, row(name), shape_.num_columns, stream_);
        });
    }
    void add_over_all(std::int32_t name) override {
        together([&] { link_.add_over_all(row(name), shape_.num_columns, stream_); });
    }
    [[nodiscard]] std::vector<double> read(std::int32_t name) override {
        wait();
        const DeviceInUse<Runtime> in_use(device_);
        std::vector<double> numbers(static_cast<std::size_t>(shape_.num_columns));
        require_done<Runtime>(
            Runtime::copy(numbers.data(), row(name), numbers.size() * sizeof(double), stream_),
            "copying from the device");
        require_done<Runtime>(Runtime::synchronize(stream_), "waiting for the device");
        return numbers;
    }

  private:
    struct Piece {
        void* first = nullptr;
        std::size_t num_bytes = 0;
    };

    [[nodiscard]] double* row(std::int64_t name) const {
        return static_cast<double*>(rows_.first) + name * shape_.num_columns;
    }
    void reserve(Piece& piece, std::size_t num_bytes) {
        if (piece.num_bytes >= num_bytes) return;
        if (piece.first) Runtime::release(piece.first);
        piece = {};
        require_done<Runtime>(Runtime::allocate(piece.first, num_bytes), "allocating memory");
        piece.num_bytes = num_bytes;
    }
    template <class T>
    void copy_in(void* there, const std::vector<T>& here) const {
        if (here.empty()) return;
        const DeviceInUse<Runtime> in_use(device_);
        require_done<Runtime>(Runtime::copy(there, here.data(), here.size() * sizeof(T), stream_),
                              "copying to the device");
    }
    template <class Messages>
    void together(const Messages& messages) {
        const DeviceInUse<Runtime> in_use(device_);
        if constexpr (!Link::follows_stream) wait();
        link_.begin();
        messages();
        link_.end();
        if constexpr (!Link::follows_stream) wait();
    }
    [[nodiscard]] bool is_done() {
        bool is_done = false;
        require_done<Runtime>(Runtime::is_done(stream_, is_done), "adding rows of ranks");
        return link_.is_done() && is_done;
    }
    /// Until all that was asked for is done. Where another rank has stopped, it will not be.
    void wait() {
        const DeviceInUse<Runtime> in_use(device_);
        try {
            while (!is_done()) {
                require_going_on();
                Runtime::pause();
            }
        } catch (...) {
            link_.abort();
            throw;
        }
    }

    int device_;
    Stream stream_;
    Link link_;
    LeafShape shape_;
    Piece rows_, adds_;
};

}  // namespace eddy::inline v0::detail
