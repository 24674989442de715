#pragma once
// A device on the host: memory of its own, which host text cannot touch, and kernels on emulated warps.
// `EmulatedDevice` is the backend Cuda but for the thin functions of its runtime and the instructions
// of a warp, which are here.

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <deque>
#include <eddy/backends/grid/grid_backend.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/emulated_grid.hpp"
#include "support/host_algorithms.hpp"
#include "support/random.hpp"

namespace support {

/// The pieces of memory that are allocated. Without access but for copies and kernels: who forgets
/// where an array lies ends with a segmentation fault.
class DevicePages {
  public:
    [[nodiscard]] static void* allocate(std::size_t num_bytes, int device) {
        void* const first =
            mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED) throw std::bad_alloc();
        std::memset(first, 0xff, num_bytes);  // every number is NaN
        pieces[static_cast<std::byte*>(first)] = {num_bytes, device};
        if (!are_kept_open) mprotect(first, num_bytes, PROT_NONE);
        return first;
    }
    static void release(void* first) {
        const auto piece = pieces.find(static_cast<std::byte*>(first));
        munmap(first, piece->second.num_bytes);
        pieces.erase(piece);
    }
    /// The number of the device, or on_the_host.
    [[nodiscard]] static int device_of(const void* address) {
        auto piece = pieces.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));
        if (piece == pieces.begin()) return eddy::detail::on_the_host;
        --piece;
        return address < piece->first + piece->second.num_bytes ? piece->second.device
                                                                : eddy::detail::on_the_host;
    }
    [[nodiscard]] static std::size_t num_bytes(int device) {
        std::size_t sum = 0;
        for (const auto& [first, piece] : pieces)
            sum += piece.device == device ? piece.num_bytes : 0;
        return sum;
    }
    [[nodiscard]] static std::size_t num_pieces() { return pieces.size(); }
    /// For messages, which come and go when nobody knows.
    static inline bool are_kept_open = false;

    /// While one lives, all pieces of its device may be read and written.
    class Open {
      public:
        explicit Open(int device) : device_(device) { protect(PROT_READ | PROT_WRITE); }
        ~Open() { protect(PROT_NONE); }
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;

      private:
        void protect(int access) const {
            if (are_kept_open) return;
            for (const auto& [first, piece] : pieces) {
                if (piece.device == device_) mprotect(first, piece.num_bytes, access);
            }
        }
        int device_;
    };

  private:
    struct Piece {
        std::size_t num_bytes;
        int device;
    };
    static inline std::map<std::byte*, Piece> pieces;
};

/// A thread's sight of its warp, by the emulated grid.
class GridWarp {
  public:
    using Place = eddy::test::Place;

    GridWarp(eddy::test::EmulatedWarp& warp, std::ptrdiff_t index, std::ptrdiff_t num_warps)
        : warp_(&warp), index_(index), num_warps_(num_warps) {}

    [[nodiscard]] std::ptrdiff_t index() const { return index_; }
    [[nodiscard]] std::ptrdiff_t num_warps() const { return num_warps_; }
    [[nodiscard]] int member() const { return warp_->member(); }
    [[nodiscard]] std::uint32_t ballot(bool flag, Place where = Place::current()) const {
        return warp_->ballot(flag, where);
    }
    [[nodiscard]] static int count(std::uint32_t flags) { return std::popcount(flags); }
    [[nodiscard]] bool any(bool flag, Place where = Place::current()) const {
        return warp_->any(flag, where);
    }
    [[nodiscard]] std::int64_t max(std::int64_t x, Place where = Place::current()) const {
        return warp_->max(x, where);
    }
    [[nodiscard]] std::int64_t min(std::int64_t x, Place where = Place::current()) const {
        return warp_->min(x, where);
    }
    [[nodiscard]] std::int64_t sum(std::int64_t x, Place where = Place::current()) const {
        return warp_->sum(x, where);
    }
    [[nodiscard]] std::int64_t from_first(std::int64_t x, Place where = Place::current()) const {
        return warp_->broadcast(x, 0, where);
    }
    void sync(Place where = Place::current()) const { warp_->sync(where); }
    void fetch_ahead(const void*) const {}
    /// Others may go between what is read and what is written.
    template <class Number>
    [[nodiscard]] Number read(const Number& number) const {
        pass();
        return number;
    }
    template <class Number>
    void write(Number& number, Number value) const {
        pass();
        number = value;
    }
    static void publish() {}
    /// What was there before.
    std::int64_t add(std::int64_t& counter, std::int64_t value) const {
        return warp_->fetch_add(counter, value);
    }
    /// Others go first: who waits for a flag would wait for ever.
    bool claim(std::int32_t& flag) const {
        pass();
        return std::exchange(flag, 1) == 0;
    }
    void give_back(std::int32_t& flag) const { flag = 0; }
    /// Whoever comes asks where others are.
    [[nodiscard]] std::ptrdiff_t likely_free(std::ptrdiff_t) const { return 0; }
    /// Two milliseconds later than when last somebody asked.
    [[nodiscard]] static std::int64_t nanoseconds() {
        static std::atomic<std::int64_t> now{0};
        return now += 2'000'000;
    }
    bool replace(std::int64_t& number, std::int64_t expected, std::int64_t by) const {
        pass();
        return std::atomic_ref(number).compare_exchange_strong(expected, by);
    }

  private:
    void pass() const {
        std::int64_t nothing = 0;
        warp_->fetch_add(nothing, 0);
    }
    eddy::test::EmulatedWarp* warp_;
    std::ptrdiff_t index_, num_warps_;
};

/// What is put into streams, each a list: who does something next is drawn by a seeded generator. A
/// number names a stream, and 0 the default one of each device.
class EmulatedStreams {
  public:
    using Work = std::function<void()>;

    explicit EmulatedStreams(std::uint64_t seed) : random_(seed) {}
    void put(int device, int stream, Work work) {
        waiting_[{device, stream}].push_back(std::move(work));
        if (random_.below(2) == 0) do_one();
    }
    /// Until nothing is left in one of them; others may come first.
    void finish(int device, int stream) {
        while (has_work(device, stream)) do_one();
    }
    void do_one() {
        std::vector<std::deque<Work>*> ready;
        for (auto& [name, list] : waiting_) {
            if (!list.empty()) ready.push_back(&list);
        }
        if (ready.empty()) return;
        auto& list =
            *ready[static_cast<std::size_t>(random_.below(static_cast<int>(ready.size())))];
        const Work work = std::move(list.front());
        list.pop_front();
        work();
    }
    [[nodiscard]] bool has_work(int device, int stream) {
        return !waiting_[{device, stream}].empty();
    }

  private:
    std::map<std::pair<int, int>, std::deque<Work>> waiting_;
    Random random_;
};

/// What a test may set, and look at.
struct EmulatedState {
    int devices = 2, current = 0, processors = 1;
    std::size_t bytes = std::size_t{64} << 20;  // that each has
    std::size_t bytes_of_chunk = std::size_t{1} << 40;
    std::uint64_t seed = 1;
    int fails_with = 0;  // all that can fail
    int allocations = 0, launches = 0, streams = 0, streams_made = 0;
    std::size_t bytes_to_device = 0, bytes_to_host = 0;
    int copies = 0, waits = 0,
        questions = 0;          // waits: for a stream; questions: where an address lies
    bool is_capturing = false;  // work is put into `graph` then, and nothing may wait
    std::vector<std::function<void()>> graph;
    std::ptrdiff_t idle_warps = 1;  // that a launch rounds up to
    EmulatedStreams work{1};
};

/// The thin functions: of so many devices as a test says, which fail where it says so.
struct EmulatedRuntime {
    using Warp = GridWarp;
    using Stream = int;
    static constexpr bool is_on_the_host = true;
    static constexpr const char* memory_name = "the memory of the emulated device";

    static inline EmulatedState state;

    /// Everything as at first, but for the order in which streams and warps get on.
    static void reset(std::uint64_t seed = 1) {
        state = {};
        state.seed = seed;
        state.work = EmulatedStreams(seed);
    }

    static int num_devices(int& count) { return set(count, state.devices); }
    static int current_device(int& device) { return set(device, state.current); }
    static int use_device(int device) { return set(state.current, device); }
    /// So few that warps wait for the arenas of others.
    static int num_processors(int, int& count) { return set(count, state.processors); }
    static int memory_of_device(std::size_t& num_free, std::size_t& in_all) {
        num_free = state.bytes - DevicePages::num_bytes(state.current);
        return set(in_all, state.bytes);
    }
    static int place_of(const void* address, int& place) {
        ++state.questions;
        return set(place, DevicePages::device_of(address));
    }
    static int allocate(void*& piece, std::size_t num_bytes) {
        if (state.is_capturing) return not_in_a_graph;
        if (state.fails_with != 0) return state.fails_with;
        if (DevicePages::num_bytes(state.current) + num_bytes > state.bytes) return 2;
        ++state.allocations;
        piece = DevicePages::allocate(num_bytes, state.current);
        return 0;
    }
    static void release(void* piece) { DevicePages::release(piece); }
    static int allocate_mapped(void*& here, void*& there, std::size_t num_bytes) {
        if (state.is_capturing) return not_in_a_graph;
        ++state.allocations;
        here = there = ::operator new(num_bytes);
        return state.fails_with;
    }
    static void release_mapped(void* here) { ::operator delete(here); }
    /// Their numbers say which device they are of.
    static int make_stream(Stream& stream) {
        ++state.allocations;
        ++state.streams;
        return set(stream, ++state.streams_made * state.devices + state.current);
    }
    static void release_stream(Stream) { --state.streams; }
    /// From the host at once, as of pageable memory; to the host when all that is before it is done.
    static int copy(void* to, const void* from, std::size_t num_bytes, Stream stream) {
        if (!may_use(stream)) return wrong_stream;
        if (state.is_capturing) return not_in_a_graph;  // of memory that may be gone when it runs
        ++state.copies;
        const int device = state.current;
        if (DevicePages::device_of(to) == eddy::detail::on_the_host) {
            state.work.finish(device, stream);
            state.bytes_to_host += num_bytes;
            const DevicePages::Open open(device);
            std::memcpy(to, from, num_bytes);
            return state.fails_with;
        }
        state.bytes_to_device += num_bytes;
        const auto* const bytes = static_cast<const std::byte*>(from);
        state.work.put(device, stream,
                       [to, device, copied = std::vector(bytes, bytes + num_bytes)] {
                           const DevicePages::Open open(device);
                           std::memcpy(to, copied.data(), copied.size());
                       });
        return state.fails_with;
    }
    static int synchronize(Stream stream) {
        if (!may_use(stream)) return wrong_stream;
        if (state.is_capturing) return not_in_a_graph;
        ++state.waits;
        state.work.finish(state.current, stream);
        return state.fails_with;
    }
    static int is_done(Stream stream, bool& is_done) {
        if (!may_use(stream)) return wrong_stream;
        if (state.is_capturing) return not_in_a_graph;
        state.work.do_one();
        is_done = !state.work.has_work(state.current, stream);
        return state.fails_with;
    }
    static int is_capturing(Stream, bool& is_capturing) {
        return set(is_capturing, state.is_capturing);
    }
    static void pause() { std::this_thread::yield(); }
    template <class Work>
    static int launch(const Work& work, std::ptrdiff_t num_warps, Stream stream) {
        if (state.fails_with != 0) return state.fails_with;
        if (!may_use(stream)) return wrong_stream;
        if (num_warps < 1) return 9;                    // a wrong configuration
        if constexpr (requires { work.link.relay; }) {  // what it looks at again and again
            const void* const looked_at = work.link.relay;
            if (looked_at && DevicePages::device_of(looked_at) != state.current) return far_away;
        }
        ++state.launches;
        const auto run = [work, num_warps, device = state.current] {
            const DevicePages::Open open(device);
            const std::ptrdiff_t warps = num_warps + state.idle_warps;
            eddy::test::run_warps(static_cast<int>(warps), state.seed,
                                  [&](int warp, eddy::test::EmulatedWarp& threads) {
                                      work(GridWarp(threads, warp, warps));
                                  });
        };
        return put(stream, run);
    }
    static int clear(void* there, std::size_t num_bytes, Stream stream) {
        return put(stream, [there, num_bytes, device = state.current] {
            const DevicePages::Open open(device);
            std::memset(there, 0, num_bytes);
        });
    }
    template <class Work>
    static int for_each(std::ptrdiff_t count, const Work& work, Stream stream) {
        return put(stream, [count, work, device = state.current] {
            const DevicePages::Open open(device);
            for_each_index(count, work);
        });
    }
    template <class Choice>
    static int first_of(std::ptrdiff_t count, const Choice& is_chosen, Stream stream,
                        std::ptrdiff_t& index) {
        if (const int code = synchronize(stream); code != 0) return code;
        const DevicePages::Open open(state.current);
        index = first_index(count, is_chosen);
        return 0;
    }
    static int bytes_to_sort(std::ptrdiff_t count, std::size_t& num_bytes) {
        num_bytes = static_cast<std::size_t>(count);
        return 0;
    }
    static int sort_descending(const eddy::detail::SortedNumbers& numbers, Stream stream) {
        return put(stream, [numbers, device = state.current] {
            const DevicePages::Open open(device);
            support::sort_descending(numbers);
        });
    }
    /// Puts the captured work into a stream once more.
    static void launch_graph(Stream stream) {
        for (const auto& work : state.graph) state.work.put(state.current, stream, work);
    }
    static std::size_t bytes_of_chunk() { return state.bytes_of_chunk; }
    static std::string words(int code) { return "code " + std::to_string(code); }

  private:
    static constexpr int wrong_stream = 400, not_in_a_graph = 900, far_away = 901;
    /// Into a stream, or into the graph that captures it.
    static int put(Stream stream, EmulatedStreams::Work work) {
        if (state.fails_with != 0) return state.fails_with;
        if (!may_use(stream)) return wrong_stream;
        if (state.is_capturing)
            state.graph.push_back(std::move(work));
        else
            state.work.put(state.current, stream, std::move(work));
        return 0;
    }
    /// The default stream of each device, and those that have been made for it.
    static bool may_use(Stream stream) {
        return stream == 0 || stream % state.devices == state.current;
    }
    template <class T>
    static int set(T& to, T value) {
        to = value;
        return state.fails_with;
    }
};
static_assert(eddy::detail::GridRuntime<EmulatedRuntime>);

using EmulatedDevice = eddy::GridBackend<EmulatedRuntime>;
static_assert(eddy::Backend<EmulatedDevice>);
using EmulatedMemory = EmulatedDevice::Memory;
static_assert(eddy::DeviceMemory<EmulatedMemory>);

/// A (lane, component) array on the device, each component contiguous.
template <class Real>
class DeviceArray {
  public:
    using memory = EmulatedMemory;
    using Scalar = Real;
    static constexpr bool IsRowMajor = false, IsVectorAtCompileTime = false;

    explicit DeviceArray(const eddy::EnsembleArray<Real>& values, int device = 0)
        : rows_(values.rows()),
          cols_(values.cols()),
          first_(static_cast<Real*>(DevicePages::allocate(num_bytes(), device))) {
        const DevicePages::Open open(device);
        std::memcpy(first_, values.data(), num_bytes());
    }
    DeviceArray(DeviceArray&& other) noexcept
        : rows_(other.rows_), cols_(other.cols_), first_(std::exchange(other.first_, nullptr)) {}
    DeviceArray& operator=(DeviceArray&&) = delete;
    ~DeviceArray() {
        if (first_) DevicePages::release(first_);
    }

    [[nodiscard]] const Real* data() const { return first_; }
    [[nodiscard]] Real* data() { return first_; }
    /// Puts other numbers there.
    void assign(const eddy::EnsembleArray<Real>& values) {
        const DevicePages::Open open(DevicePages::device_of(first_));
        std::memcpy(first_, values.data(), num_bytes());
    }
    /// What is there.
    [[nodiscard]] eddy::EnsembleArray<Real> values() const {
        eddy::EnsembleArray<Real> copy(rows_, cols_);
        const DevicePages::Open open(DevicePages::device_of(first_));
        std::memcpy(copy.data(), first_, num_bytes());
        return copy;
    }
    [[nodiscard]] std::ptrdiff_t rows() const { return rows_; }
    [[nodiscard]] std::ptrdiff_t cols() const { return cols_; }
    [[nodiscard]] static std::ptrdiff_t innerStride() { return 1; }
    [[nodiscard]] std::ptrdiff_t outerStride() const { return rows_; }

  private:
    [[nodiscard]] std::size_t num_bytes() const {
        return static_cast<std::size_t>(rows_ * cols_) * sizeof(Real);
    }
    std::ptrdiff_t rows_, cols_;
    Real* first_;
};

/// Room for results on a device, −1 everywhere.
inline DeviceArray<double> room(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return DeviceArray<double>(eddy::EnsembleArray<double>(rows, columns, -1.));
}

}  // namespace support
