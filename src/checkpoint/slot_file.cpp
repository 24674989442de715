#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <eddy/checkpoint/slot_file.hpp>
#include <eddy/core/error.hpp>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "checksum.hpp"
#include "disk_file.hpp"

namespace eddy::inline v0 {
namespace {

constexpr std::size_t chunk = std::size_t{1}
                              << 20;  // bytes per system call; checksummed while in cache
constexpr int most_buffers = 4096;
constexpr std::int64_t alignment = 4096;              // of slots in the file
constexpr std::uint64_t magic = 0x746F6C7379646465u;  // "eddyslot"

// Written after the payload, and kept in memory.
struct Label {
    std::uint64_t magic_number = magic;
    std::int64_t slot = -1;
    std::int64_t step = -1;  // -1: nothing
    std::uint64_t size = 0;  // bytes of payload
    std::uint64_t checksum = 0;

    friend bool operator==(const Label&, const Label&) = default;

    [[nodiscard]] std::uint64_t sum_with(const detail::Checksum& payload) const {
        const std::array<std::uint64_t, 3> seeds{static_cast<std::uint64_t>(slot),
                                                 static_cast<std::uint64_t>(step), size};
        return payload.finish(seeds);
    }
};

// Memory that is not cleared when it is made.
struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t capacity = 0;

    void grow(std::size_t size) {
        if (size <= capacity) return;
        *this = {};
        data = std::make_unique_for_overwrite<std::byte[]>(size);
        capacity = size;
    }
    [[nodiscard]] std::span<std::byte> first(std::size_t size) const { return {data.get(), size}; }
};

std::string no_room(const std::string& what) {
    return detail::compose(
        "DiskStore: {} is more than a file can hold; keep fewer or smaller states", what);
}

std::string damage(const Label& label, const std::string& what) {
    return detail::compose("DiskStore: slot {}, step {}: the checkpoint {}", label.slot, label.step,
                           what);
}

}  // namespace

// Buffers go round: free -> filled by begin_write -> queued -> written -> free, and free -> queued
// -> fetched -> read -> free. Everything but the bytes of a buffer that is under way, and the
// file's own calls, is guarded by `mutex`.
struct SlotFile::Impl {
    struct Slot {
        Label label;              // of the latest write
        std::int64_t offset = 0;  // in the file
        std::int64_t room = 0;    // bytes there
        int jobs = 0;             // queued or under way
        int fetched = -1;         // the buffer that holds it, or -1
        bool wanted = false;      // a fetch is queued or under way
    };
    enum class Kind { write, fetch };
    struct Job {
        Kind kind;
        int buffer;
        Label label;
        std::int64_t offset;
    };

    explicit Impl(const DiskOptions& options)
        : file(options.directory), buffers(static_cast<std::size_t>(options.buffers)) {
        for (int buffer = 0; buffer < options.buffers; ++buffer) free_buffers.push_back(buffer);
        queue.reserve(buffers.size());
        try {
            worker = std::thread([this] { work(); });
        } catch (const std::system_error& error) {
            throw StorageError(detail::compose(
                "DiskStore: no thread could be started ({}); free some, or keep the checkpoints in "
                "memory",
                error.what()));
        }
    }

    ~Impl() {
        {
            const std::lock_guard lock(mutex);
            queue.clear();
            stopping = true;
        }
        changed.notify_all();
        worker.join();
    }

    Slot& at(std::int64_t slot) { return slots[static_cast<std::size_t>(slot)]; }
    Buffer& buffer(int index) { return buffers[static_cast<std::size_t>(index)]; }
    bool exists(std::int64_t slot) const {
        return slot >= 0 && static_cast<std::size_t>(slot) < slots.size();
    }

    void throw_failure() const {
        if (failure) std::rethrow_exception(failure);
    }

    // ---- the background thread ----

    void work() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return stopping || !queue.empty(); });
            if (stopping) return;
            Job job = queue.front();
            queue.erase(queue.begin());
            if (job.kind == Kind::fetch)
                job.label = at(job.label.slot).label;  // its write is done by now
            lock.unlock();
            Label label = job.label;
            const std::exception_ptr problem = carry_out(job, label);
            lock.lock();
            finish(job, label, problem);
            changed.notify_all();
        }
    }

    // What went wrong is for the caller's thread: nothing is thrown here, memory for the message may
    // be wanting too.
    std::exception_ptr carry_out(const Job& job, Label& label) noexcept {
        try {
            const std::string problem = job.kind == Kind::write
                                            ? write_out(job, label)
                                            : read_in(label, job.offset, buffer(job.buffer));
            if (problem.empty()) return nullptr;
            throw StorageError(damage(label, problem));
        } catch (...) {
            return std::current_exception();
        }
    }

    // All but the last piece of the payload goes out piece by piece, the last one together with the
    // label.
    std::string write_out(const Job& job, Label& label) {
        std::span<std::byte> rest = buffer(job.buffer).first(label.size + sizeof(Label));
        std::int64_t offset = job.offset;
        detail::Checksum sum;
        while (rest.size() > chunk + sizeof(Label)) {
            sum.update(rest.first(chunk));
            std::string problem = file.write(offset, rest.first(chunk));
            if (!problem.empty()) return problem;
            rest = rest.subspan(chunk);
            offset += static_cast<std::int64_t>(chunk);
        }
        sum.update(rest.first(rest.size() - sizeof(Label)));
        label.checksum = label.sum_with(sum);
        std::memcpy(rest.last(sizeof(Label)).data(), &label, sizeof(Label));
        return file.write(offset, rest);
    }

    std::string read_in(const Label& label, std::int64_t offset, Buffer& target) {
        if (file.is_deleted()) return "is lost: its file " + file.path() + " was deleted";
        file.will_read(offset, static_cast<std::int64_t>(label.size + sizeof(Label)));
        target.grow(label.size + sizeof(Label));
        std::span<std::byte> rest = target.first(label.size + sizeof(Label));
        detail::Checksum sum;
        while (!rest.empty()) {
            const bool is_last = rest.size() <= chunk + sizeof(Label);
            const auto piece = is_last ? rest : rest.first(chunk);
            std::string problem = file.read(offset, piece);
            if (!problem.empty()) return problem;
            sum.update(is_last ? piece.first(piece.size() - sizeof(Label)) : piece);
            rest = rest.subspan(piece.size());
            offset += static_cast<std::int64_t>(piece.size());
        }
        Label found;
        std::memcpy(&found, target.data.get() + label.size, sizeof(Label));
        if (found != label || label.sum_with(sum) != label.checksum)
            return "did not come back as it was written: " + file.path() +
                   " was altered, or the disk is failing";
        return {};
    }

    void finish(const Job& job, const Label& label, const std::exception_ptr& problem) noexcept {
        Slot& slot = at(job.label.slot);
        --slot.jobs;
        bool keep = false;
        if (job.kind == Kind::write) {
            if (slot.label.step == label.step) slot.label.checksum = label.checksum;
            if (problem && !failure) failure = problem;
        } else {
            keep = !problem && slot.wanted;  // a failed fetch is tried again, and told, by read
            slot.wanted = false;
            if (keep) {
                slot.fetched = job.buffer;
                ++num_fetched;
            }
        }
        if (!keep) free_buffers.push_back(job.buffer);
    }

    // ---- the loop's thread, under the lock ----

    // Takes back what is queued for the slot, and forgets what was or is being fetched.
    void cancel(std::int64_t number) {
        Slot& slot = at(number);
        std::erase_if(queue, [&](const Job& job) {
            if (job.label.slot != number) return false;
            free_buffers.push_back(job.buffer);
            --slot.jobs;
            return true;
        });
        slot.wanted = false;
        drop_fetched(slot);
    }

    void cancel_and_wait(std::unique_lock<std::mutex>& lock, std::int64_t number) {
        cancel(number);
        changed.wait(lock, [&] { return at(number).jobs == 0; });
    }

    // A state that threw while it was saved left its buffer here.
    void return_unfinished() {
        if (filling.buffer >= 0) free_buffers.push_back(filling.buffer);
        filling.buffer = -1;
    }

    void drop_fetched(Slot& slot) {
        if (slot.fetched < 0) return;
        free_buffers.push_back(std::exchange(slot.fetched, -1));
        --num_fetched;
    }

    // Waits for a buffer; one that was fetched ahead goes first.
    int take_buffer(std::unique_lock<std::mutex>& lock) {
        changed.wait(lock, [this] {
            for (std::size_t slot = 0; free_buffers.empty() && num_fetched > 0; ++slot)
                drop_fetched(slots[slot]);
            return !free_buffers.empty();
        });
        const int taken = free_buffers.back();
        free_buffers.pop_back();
        return taken;
    }

    // Gives the slot a place in the file: its own as long as that is large enough, else a new one
    // at the end.
    void place(Slot& slot, std::size_t size) {
        constexpr auto most =
            static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max() / 2);
        if (size > most) throw StorageError(no_room(detail::compose("a state of {} bytes", size)));
        const auto needed = static_cast<std::int64_t>(size + sizeof(Label));
        if (slot.room >= needed) return;
        if (end_of_file > static_cast<std::int64_t>(most) - needed)
            throw StorageError(no_room(detail::compose("one more state of {} bytes", size)));
        slot.offset = end_of_file;
        slot.room = (needed + alignment - 1) / alignment * alignment;
        end_of_file += slot.room;
    }

    void empty_all(std::unique_lock<std::mutex>& lock) {
        for (std::size_t slot = 0; slot < slots.size(); ++slot)
            cancel_and_wait(lock, static_cast<std::int64_t>(slot));
        return_unfinished();
        slots.clear();
        failure = nullptr;
        end_of_file = 0;
    }

    detail::DiskFile file;
    std::vector<Buffer> buffers;
    Buffer reading;                       // what the last read returned
    Job filling{Kind::write, -1, {}, 0};  // between begin_write and end_write; buffer -1: none

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Slot> slots;  // as far as they were written
    std::vector<Job> queue;   // in order; as many as there are buffers at most
    std::vector<int> free_buffers;
    int num_fetched = 0;         // buffers that wait for read
    std::exception_ptr failure;  // of the first write that failed
    std::int64_t end_of_file = 0;
    bool stopping = false;
    std::thread worker;
};

SlotFile::SlotFile(const DiskOptions& options) {
    require_argument(options.buffers >= 1 && options.buffers <= most_buffers,
                     "DiskStore: DiskOptions::buffers is {}; give at least 1 and at most {}",
                     options.buffers, most_buffers);
    impl_ = std::make_unique<Impl>(options);
}

SlotFile::SlotFile(SlotFile&&) noexcept = default;
SlotFile& SlotFile::operator=(SlotFile&&) noexcept = default;
SlotFile::~SlotFile() = default;

void SlotFile::reserve(std::int64_t) {
    std::unique_lock lock(impl_->mutex);
    impl_->empty_all(lock);
    impl_->file.recreate();
}

std::span<std::byte> SlotFile::begin_write(std::int64_t slot, std::int64_t step, std::size_t size) {
    std::unique_lock lock(impl_->mutex);
    impl_->throw_failure();
    if (!impl_->exists(slot)) impl_->slots.resize(static_cast<std::size_t>(slot) + 1);
    Impl::Slot& target = impl_->at(slot);
    impl_->return_unfinished();
    impl_->cancel_and_wait(lock, slot);
    target.label = {.slot = slot, .step = -1, .size = size};
    impl_->place(target, size);
    const int buffer = impl_->take_buffer(lock);
    impl_->filling = {
        Impl::Kind::write, buffer, {.slot = slot, .step = step, .size = size}, target.offset};
    lock.unlock();
    impl_->buffer(buffer).grow(size + sizeof(Label));
    return impl_->buffer(buffer).first(size);
}

void SlotFile::end_write() {
    {
        const std::lock_guard lock(impl_->mutex);
        Impl::Slot& target = impl_->at(impl_->filling.label.slot);
        target.label = impl_->filling.label;
        ++target.jobs;
        impl_->queue.push_back(impl_->filling);
        impl_->filling.buffer = -1;
    }
    impl_->changed.notify_all();
}

std::span<const std::byte> SlotFile::read(std::int64_t slot, std::int64_t step) {
    std::unique_lock lock(impl_->mutex);
    impl_->throw_failure();
    const Label asked{.slot = slot, .step = step};
    if (!impl_->exists(slot) || impl_->at(slot).label.step != step)
        throw StorageError(damage(asked, "is not there; do not share a store between loops"));
    Impl::Slot& source = impl_->at(slot);
    impl_->changed.wait(lock, [&] { return source.jobs == 0; });
    impl_->throw_failure();
    if (source.fetched >= 0) {
        std::swap(impl_->reading, impl_->buffer(source.fetched));
        impl_->drop_fetched(source);
        return impl_->reading.first(source.label.size);
    }
    const Label label = source.label;
    const std::int64_t offset = source.offset;
    lock.unlock();
    const std::string problem = impl_->read_in(label, offset, impl_->reading);
    if (!problem.empty()) throw StorageError(damage(label, problem) + "; run the loop again");
    return impl_->reading.first(label.size);
}

void SlotFile::will_read(std::int64_t slot, std::int64_t step) {
    {
        const std::lock_guard lock(impl_->mutex);
        if (!impl_->exists(slot) || impl_->free_buffers.empty()) return;
        Impl::Slot& source = impl_->at(slot);
        if (source.label.step != step || source.wanted || source.fetched >= 0) return;
        source.wanted = true;
        ++source.jobs;
        impl_->queue.push_back(
            {Impl::Kind::fetch, impl_->free_buffers.back(), source.label, source.offset});
        impl_->free_buffers.pop_back();
    }
    impl_->changed.notify_all();
}

void SlotFile::discard(std::int64_t slot) {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->exists(slot)) return;
    impl_->cancel(slot);
    impl_->at(slot).label = {};
}

void SlotFile::flush(bool to_device) {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(lock, [this] {
        return std::all_of(impl_->slots.begin(), impl_->slots.end(),
                           [](const Impl::Slot& slot) { return slot.jobs == 0; });
    });
    impl_->throw_failure();
    lock.unlock();
    if (!to_device) return;
    const std::string problem = impl_->file.sync();
    if (!problem.empty()) throw StorageError("DiskStore: " + impl_->file.path() + " " + problem);
}

void SlotFile::release() {
    std::unique_lock lock(impl_->mutex);
    impl_->empty_all(lock);
    impl_->file.clear();
    for (Buffer& buffer : impl_->buffers) buffer = {};
    impl_->reading = {};
}

const std::string& SlotFile::path() const { return impl_->file.path(); }

}  // namespace eddy::inline v0
