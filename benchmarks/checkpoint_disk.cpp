// The rate of DiskStore against dd on the same disk, in one run: slots written in order to the
// device, then, out of the page cache, read in reverse order with the hints that a loop gives.
//
//   checkpoint_disk [directory [total in GB [state in MB [rounds]]]]        defaults: . 1 64 3
//
// Rates include the way to the device. A disk that others use as well varies from round to round:
// take many rounds, and their sum.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <eddy/checkpoint/disk_store.hpp>
#include <functional>
#include <string>
#include <vector>

namespace {

using State = std::vector<double>;

struct Seconds {
    double write = 0, read = 0;
};

// What earlier work left to write is not this work's.
double seconds(const std::function<void()>& work) {
    ::sync();
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void forget_cached_pages(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    if (file < 0 || ::fdatasync(file) != 0 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
        std::fprintf(stderr,
                     "the page cache could not be emptied: read rates are those of memory\n");
    if (file >= 0) ::close(file);
}

void shell(const std::string& command) {
    if (std::system(command.c_str()) == 0) return;
    std::fprintf(stderr, "failed: %s\n", command.c_str());
    std::exit(1);
}

Seconds time_of_dd(const std::string& directory, double gigabytes) {
    const std::string file = directory + "/eddy-dd-" + std::to_string(::getpid());
    const auto megabytes = static_cast<long>(gigabytes * 1e9 / 1048576);
    Seconds times;
    times.write = seconds([&] {
        shell("dd if=/dev/zero of='" + file + "' bs=1M count=" + std::to_string(megabytes) +
              " conv=fdatasync 2>/dev/null");
    });
    forget_cached_pages(file);
    times.read = seconds([&] { shell("dd if='" + file + "' of=/dev/null bs=1M 2>/dev/null"); });
    std::remove(file.c_str());
    return times;
}

Seconds time_of_store(const std::string& directory, double gigabytes, std::size_t state_bytes) {
    const auto slots =
        static_cast<std::int64_t>(gigabytes * 1e9 / static_cast<double>(state_bytes));
    State state(state_bytes / sizeof(double));
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = 1. / static_cast<double>(i + 1);
    eddy::DiskStore<State> store({.directory = directory});
    store.reserve(slots);
    Seconds times;
    times.write = seconds([&] {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            state[0] = static_cast<double>(slot);
            store.write(slot, slot, state);
        }
        store.flush(true);
    });
    forget_cached_pages(store.path());
    double wrong = 0;
    times.read = seconds([&] {
        for (std::int64_t slot = slots - 1; slot >= 0; --slot) {
            store.will_read(slot - 1, slot - 1);
            wrong += store.read(slot, slot)[0] - static_cast<double>(slot);
            store.discard(slot);
        }
    });
    if (wrong != 0) std::exit(2);
    return times;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string directory = argc > 1 ? argv[1] : ".";
    const double gigabytes = argc > 2 ? std::atof(argv[2]) : 1;
    const double megabytes = argc > 3 ? std::atof(argv[3]) : 64;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    std::printf("%g GB in states of %g MB, GB/s\n%10s %10s %10s %10s %10s %10s\n", gigabytes,
                megabytes, "dd write", "eddy", "ratio", "dd read", "eddy", "ratio");
    Seconds all_dd, all_store;
    const auto print = [](const char* what, double size, const Seconds& dd, const Seconds& store) {
        std::printf("%6s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f\n", what, size / dd.write,
                    size / store.write, dd.write / store.write, size / dd.read, size / store.read,
                    dd.read / store.read);
        std::fflush(stdout);
    };
    const auto state_bytes = static_cast<std::size_t>(megabytes * 1e6);
    for (int round = 0; round < rounds; ++round) {
        Seconds dd, store;  // who goes first alternates: the disk may be busy with what went before
        if (round % 2 == 0) dd = time_of_dd(directory, gigabytes);
        store = time_of_store(directory, gigabytes, state_bytes);
        if (round % 2 != 0) dd = time_of_dd(directory, gigabytes);
        print("", gigabytes, dd, store);
        all_dd = {all_dd.write + dd.write, all_dd.read + dd.read};
        all_store = {all_store.write + store.write, all_store.read + store.read};
    }
    print("in all", gigabytes * rounds, all_dd, all_store);
}
