#pragma once
// A device that does nothing: the thin functions of a runtime, which count how often the host calls them.
// What is left of a call is the host's part of it.

#include <cstddef>
#include <cstdlib>
#include <eddy/backends/grid/grid_backend.hpp>
#include <map>
#include <string>

namespace benchmark {

/// Calls of the runtime, by what they would cost: a launch and a copy are put into a stream, a wait ends a
/// call, the rest is answered at once.
struct RuntimeCalls {
    int launches = 0, copies = 0, waits = 0, allocations = 0, questions = 0;
    std::size_t bytes_copied = 0;
};

struct IdleRuntime {
    /// No kernel runs: nobody asks it for more.
    struct Warp {
        struct Place {
            [[nodiscard]] static constexpr Place current() { return {}; }
        };
    };
    using Stream = int;
    static constexpr const char* memory_name = "the memory of the idle device";

    static inline RuntimeCalls calls;

    static int num_devices(int& count) { return answer(count, 1); }
    static int current_device(int& device) { return answer(device, 0); }
    static int use_device(int) { return ++calls.questions, 0; }
    static int num_processors(int, int& count) { return answer(count, 132); }
    static int memory_of_device(std::size_t& num_free, std::size_t& in_all) {
        num_free = in_all = std::size_t{140} << 30;
        return ++calls.questions, 0;
    }
    static int place_of(const void* address, int& place) {
        const auto piece = pieces.upper_bound(static_cast<const std::byte*>(address));
        const bool is_there =
            piece != pieces.begin() && address < std::prev(piece)->first + std::prev(piece)->second;
        return answer(place, is_there ? 0 : eddy::detail::on_the_host);
    }
    /// Addresses alone: nobody touches what is there.
    static int allocate(void*& piece, std::size_t num_bytes) {
        ++calls.allocations;
        static std::size_t next = std::size_t{1} << 46;
        piece = reinterpret_cast<void*>(next);  // NOLINT(performance-no-int-to-ptr)
        pieces[static_cast<const std::byte*>(piece)] = num_bytes;
        next += num_bytes + 4096 - num_bytes % 4096;
        return 0;
    }
    static void release(void* piece) { pieces.erase(static_cast<const std::byte*>(piece)); }
    static int allocate_mapped(void*& here, void*& there, std::size_t num_bytes) {
        ++calls.allocations;
        here = there = std::malloc(num_bytes);
        return here ? 0 : 2;
    }
    static void release_mapped(void* here) { std::free(here); }
    static int make_stream(Stream& stream) { return ++calls.allocations, stream = 1, 0; }
    static void release_stream(Stream) {}
    static int copy(void*, const void*, std::size_t num_bytes, Stream) {
        ++calls.copies;
        calls.bytes_copied += num_bytes;
        return 0;
    }
    static int synchronize(Stream) { return ++calls.waits, 0; }
    static int is_done(Stream, bool& is_done) { return ++calls.waits, is_done = true, 0; }
    static int is_capturing(Stream, bool& is_capturing) {
        is_capturing = false;
        return ++calls.questions, 0;
    }
    static void pause() {}
    template <class Work>
    static int launch(const Work&, std::ptrdiff_t, Stream) {
        return ++calls.launches, 0;
    }
    static int clear(void*, std::size_t, Stream) { return ++calls.launches, 0; }
    template <class Work>
    static int for_each(std::ptrdiff_t, const Work&, Stream) {
        return ++calls.launches, 0;
    }
    template <class Choice>
    static int first_of(std::ptrdiff_t count, const Choice&, Stream, std::ptrdiff_t& index) {
        return ++calls.waits, index = count, 0;
    }
    static int bytes_to_sort(std::ptrdiff_t, std::size_t& num_bytes) {
        return num_bytes = 1, ++calls.questions, 0;
    }
    static int sort_descending(const eddy::detail::SortedNumbers&, Stream) {
        return ++calls.launches, 0;
    }
    static std::size_t bytes_of_chunk() { return std::size_t{16} << 20; }
    static std::string words(int code) { return "code " + std::to_string(code); }

  private:
    static inline std::map<const std::byte*, std::size_t> pieces;  // their bytes, by address
    static int answer(int& to, int value) { return to = value, ++calls.questions, 0; }
};
static_assert(eddy::detail::GridRuntime<IdleRuntime>);

using IdleDevice = eddy::GridBackend<IdleRuntime>;

}  // namespace benchmark
