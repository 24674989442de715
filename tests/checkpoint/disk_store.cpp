#include <sys/resource.h>

#include <Eigen/Core>
#include <array>
#include <csignal>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/disk_store.hpp>
#include <filesystem>
#include <fstream>
#include <list>
#include <random>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::DiskStore;
using eddy::MemoryStore;
using State = std::vector<double>;
using support::mentions;
using support::message_of;
using support::Swirl;

namespace {

struct Tagged {  // not contiguous: needs a Serializer of its own
    std::list<int> values;
    explicit Tagged(std::list<int> list) : values(std::move(list)) {}
};

}  // namespace

template <>
struct eddy::Serializer<Tagged> {
    static std::size_t size_bytes(const Tagged& state) { return state.values.size() * sizeof(int); }
    static void save(const Tagged& state, std::span<std::byte> bytes) {
        for (std::size_t at = 0; int value : state.values) {
            std::memcpy(bytes.data() + at, &value, sizeof(int));
            at += sizeof(int);
        }
    }
    static void load(std::span<const std::byte> bytes, Tagged& state) {
        state.values.clear();
        for (; !bytes.empty(); bytes = bytes.subspan(sizeof(int))) {
            int value = 0;
            std::memcpy(&value, bytes.data(), sizeof(int));
            state.values.push_back(value);
        }
    }
};

namespace {

static_assert(eddy::CheckpointStore<DiskStore<State>, State>);
static_assert(eddy::CheckpointStore<DiskStore<std::array<float, 3>>, std::array<float, 3>>);
static_assert(eddy::CheckpointStore<DiskStore<Tagged>, Tagged>);
static_assert(!eddy::Serializable<std::list<double>>);
static_assert(!eddy::Serializable<std::span<double>>);
static_assert(!eddy::Serializable<double*>);

template <class Store>
Swirl::State gradient_through(eddy::CheckpointedLoop<Swirl::State, Swirl, Store>& loop,
                              std::int64_t steps) {
    loop.run({0.1, 0.2}, [=](const auto&, std::int64_t step) { return step < steps; });
    return loop.reverse({1.0, -0.5});
}

Swirl::State gradient_in_memory(std::int64_t steps) {
    eddy::CheckpointedLoop<Swirl::State, Swirl> loop(Swirl{}, {.checkpoints = 5});
    return gradient_through(loop, steps);
}

using LoopOnDisk = eddy::CheckpointedLoop<Swirl::State, Swirl, DiskStore<Swirl::State>>;

// What reading slot 1 says after `damage` was done to the file; slot 1 holds step 40.
template <class Damage>
std::string message_after(Damage damage) {
    DiskStore<State> store;
    store.reserve(3);
    store.write(0, 10, State(100, 1.0));
    store.write(1, 40, State(100, 2.0));
    store.flush();
    damage(store.path());
    const std::string message = message_of([&] { (void)store.read(1, 40); });
    std::filesystem::remove(store.path());  // the store leaves alone what is no longer its file
    return message;
}

void overwrite(const std::string& path, std::streamoff offset, char value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file.put(value);
}

char byte_at(const std::string& path, std::streamoff offset) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(offset);
    return static_cast<char>(file.get());
}

}  // namespace

TEST_CASE("disk_store: gives back what was written, whatever the order of calls") {
    std::mt19937 random(7);
    const auto below = [&random](std::size_t bound) {
        return static_cast<std::int64_t>(random() % bound);
    };
    DiskStore<State> store({.buffers = 2});
    store.reserve(6);
    std::array<std::int64_t, 6> steps{};
    std::array<State, 6> expected{};
    for (int call = 0; call < 4000; ++call) {
        const std::int64_t slot = below(6);
        const auto index = static_cast<std::size_t>(slot);
        const std::int64_t kind = below(10);
        if (kind < 4 || steps[index] == 0) {
            steps[index] = call + 1;
            expected[index] = State(static_cast<std::size_t>(below(3000)), call);
            store.write(slot, steps[index], expected[index]);
        } else if (kind < 6) {
            store.will_read(slot, steps[index]);
        } else if (kind == 6) {
            store.discard(slot);
            CHECK_THROWS_AS(store.read(slot, steps[index]), eddy::StorageError);
            steps[index] = 0;
        } else {
            REQUIRE(store.read(slot, steps[index]) == expected[index]);
        }
    }
}

TEST_CASE("disk_store: plain structs and types with a Serializer go to disk and come back") {
    struct Plain {
        double t;
        int step;
    };
    DiskStore<Plain> plain;
    plain.reserve(1);
    plain.write(0, 3, {.t = 0.5, .step = 9});
    CHECK(plain.read(0, 3).t == 0.5);
    CHECK(plain.read(0, 3).step == 9);

    DiskStore<Tagged> tagged;
    tagged.reserve(2);
    tagged.write(0, 1, Tagged({1, 2, 3}));
    tagged.write(1, 2, Tagged({}));
    CHECK(tagged.read(0, 1).values == std::list<int>{1, 2, 3});
    CHECK(tagged.read(1, 2).values.empty());
}

TEST_CASE("disk_store: gradients are bit for bit those of memory") {
    for (std::int64_t checkpoints : {1, 2, 3, 8, 40}) {
        for (std::int64_t steps : {0, 1, 2, 7, 100}) {
            for (int buffers : {1, 4}) {
                LoopOnDisk loop(Swirl{}, {.checkpoints = checkpoints},
                                DiskStore<Swirl::State>({.buffers = buffers}));
                INFO(checkpoints << " checkpoints, " << steps << " steps, " << buffers
                                 << " buffers");
                CHECK(gradient_through(loop, steps) == gradient_in_memory(steps));
            }
        }
    }
}

TEST_CASE("disk_store: a truncated file is an error that names slot and step") {
    for (std::uintmax_t size : {0u, 100u, 4096u, 4500u, 4900u, 4930u}) {
        const std::string message = message_after(
            [&](const std::string& path) { std::filesystem::resize_file(path, size); });
        INFO(message);
        CHECK(mentions(message, "slot 1, step 40"));
        CHECK(mentions(message, "truncated"));
    }
}

TEST_CASE("disk_store: every flipped bit is an error that names slot and step") {
    constexpr std::streamoff begin = 4096, end = 4096 + 800 + 40;  // slot 1: payload and label
    for (std::streamoff offset = begin; offset < end; offset += 3) {
        const int bit = static_cast<int>(offset % 8);
        const std::string message = message_after([&](const std::string& path) {
            overwrite(path, offset, static_cast<char>(byte_at(path, offset) ^ (1 << bit)));
        });
        INFO("byte " << offset << ": " << message);
        REQUIRE(mentions(message, "slot 1, step 40"));
        REQUIRE(mentions(message, "altered"));
    }
}

TEST_CASE("disk_store: a slot that was overwritten by another is an error") {
    const std::string message = message_after([](const std::string& path) {
        for (std::streamoff offset = 0; offset < 800 + 40; ++offset)
            overwrite(path, 4096 + offset, byte_at(path, offset));
    });
    CHECK(mentions(message, "slot 1, step 40"));
    CHECK(mentions(message, "altered"));
}

TEST_CASE("disk_store: a deleted or replaced file is an error that names slot and step") {
    const std::string deleted =
        message_after([](const std::string& path) { std::filesystem::remove(path); });
    CHECK(mentions(deleted, "slot 1, step 40"));
    CHECK(mentions(deleted, "deleted"));

    const std::string replaced = message_after([](const std::string& path) {
        std::filesystem::copy_file(path, path + ".copy");
        std::filesystem::rename(path + ".copy", path);
    });
    CHECK(mentions(replaced, "slot 1, step 40"));
}

TEST_CASE("disk_store: damage between run and reverse stops the loop, which then runs again") {
    for (bool prefetch_first : {false, true}) {
        for (int damage : {0, 1, 2}) {
            LoopOnDisk loop(Swirl{}, {.checkpoints = 5});
            loop.run({0.1, 0.2}, [](const auto&, std::int64_t step) { return step < 60; });
            loop.store().flush();
            const std::string path = loop.store().path();
            if (damage == 0) std::filesystem::resize_file(path, 100);
            if (damage == 1) std::filesystem::remove(path);
            if (damage == 2) {
                for (std::streamoff slot = 0; slot < 5; ++slot)
                    overwrite(path, slot * 4096 + 5,
                              static_cast<char>(byte_at(path, slot * 4096 + 5) ^ 4));
            }
            if (prefetch_first) loop.store().will_read(0, 0);

            CHECK_THROWS_AS(loop.reverse({1.0, -0.5}), eddy::StorageError);
            CHECK(gradient_through(loop, 60) == gradient_in_memory(60));
        }
    }
}

TEST_CASE("disk_store: a write that fails is reported, and release forgives it") {
    DiskStore<State> store;
    store.reserve(4);
    struct ::rlimit before {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct ::rlimit small { .rlim_cur = 64 * 1024, .rlim_max = before.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &small);

    store.write(3, 77, State(100'000, 1.0));
    const std::string message = message_of([&] { store.flush(); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);

    INFO(message);
    CHECK(mentions(message, "slot 3, step 77"));
    CHECK(mentions(message, "could not be written"));
    CHECK_THROWS_AS(store.read(3, 77), eddy::StorageError);
    CHECK_THROWS_AS(store.write(0, 1, State(1)), eddy::StorageError);
    store.release();
    store.reserve(1);
    store.write(0, 1, State(5, 2.0));
    CHECK(store.read(0, 1) == State(5, 2.0));
}

TEST_CASE("disk_store: a directory that cannot be written is refused before any work") {
    const auto message = [](const std::string& directory) {
        return message_of([&] { DiskStore<State> store({.directory = directory}); });
    };
    for (const char* directory : {"/no/such/directory", "/dev/null", "/proc"}) {
        INFO(message(directory));
        CHECK(mentions(message(directory), directory));
        CHECK(mentions(message(directory), "set DiskOptions::directory"));
    }
    // A name that makes no sense does not take the sentence with it.
    const std::string zero_within("/nowhere\0/below", 15);
    CHECK(mentions(message(zero_within), "'/nowhere?/below'"));
    CHECK(mentions(message(zero_within), "set DiskOptions::directory"));
    CHECK(mentions(message(std::string(100'000, 'x')), "set DiskOptions::directory"));
    CHECK(message(std::string(100'000, 'x')).size() < 400);
    CHECK_THROWS_AS(DiskStore<State>({.buffers = 0}), eddy::InvalidArgument);
}

TEST_CASE("disk_store: the file goes with the store, also while writes are under way") {
    std::string path;
    {
        DiskStore<State> store;
        store.reserve(10);
        path = store.path();
        CHECK(std::filesystem::exists(path));
        for (int slot = 0; slot < 10; ++slot) store.write(slot, slot, State(10'000, slot));
        DiskStore<State> moved = std::move(store);
        CHECK(moved.read(9, 9) == State(10'000, 9));
    }
    CHECK(!std::filesystem::exists(path));
}

TEST_CASE("disk_store: vectors, matrices and arrays of Eigen go to disk as they are") {
    const auto comes_back = [](const auto& small, const auto& large) {
        DiskStore<std::remove_cvref_t<decltype(small)>> store;
        store.reserve(3);
        store.write(0, 0, small);
        store.write(1, 1, large);
        store.write(2, 2, small);
        const auto same = [&](int slot, const auto& written) {
            const auto& read = store.read(slot, slot);
            return read.rows() == written.rows() && read.cols() == written.cols() &&
                   (read.array() == written.array()).all();
        };
        return same(1, large) && same(0, small) && same(2, small);
    };
    CHECK(comes_back(Eigen::VectorXd::LinSpaced(5, 0, 1).eval(),
                     Eigen::VectorXd::LinSpaced(900, 2, 3).eval()));
    CHECK(comes_back(Eigen::VectorXd(), Eigen::VectorXd::Ones(3).eval()));
    CHECK(comes_back(Eigen::ArrayXXf::Random(3, 4).eval(), Eigen::ArrayXXf::Random(4, 3).eval()));
    CHECK(comes_back(Eigen::Matrix3d::Random().eval(), Eigen::Matrix3d::Identity().eval()));
    // A view owns nothing, and would come back as a view of nothing.
    STATIC_REQUIRE(!eddy::Serializable<Eigen::Map<Eigen::VectorXd>>);
    STATIC_REQUIRE(!eddy::Serializable<Eigen::Ref<Eigen::VectorXd>>);
}
