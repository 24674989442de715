// Nanoseconds of processor time for a normal, or a random word: counter-based ones in packs and alone
// beside the generators of the standard library. Compile for the target that is to be measured
// (-march=native).
//
//     benchmark_random [repetitions]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <eddy/core/random/normal.hpp>
#include <random>

namespace {

constexpr int drawn = 1 << 18;
float sink[64];

double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class Draw>
void measure(const char* name, int repetitions, const Draw& draw) {
    double best = 1e30;
    for (int i = 0; i < repetitions; ++i) {
        const double start = now();
        draw(static_cast<std::uint64_t>(i));
        best = std::min(best, now() - start);
    }
    std::printf("%-44s %7.3f ns\n", name, best / drawn);
}

template <int lanes>
eddy::PhiloxWords<eddy::Pack<std::uint64_t, lanes>> counter(std::uint64_t number) {
    using Words = eddy::Pack<std::uint64_t, lanes>;
    Words path(0);
    for (int lane = 0; lane < lanes; ++lane) path.set(lane, static_cast<std::uint64_t>(lane));
    return {{Words(0), Words(number), path, Words(0)}};
}

template <int lanes>
void words_in_packs(std::uint64_t seed) {
    eddy::Pack<std::uint64_t, lanes> total(0);
    for (int i = 0; i < drawn / (4 * lanes); ++i) {
        const auto block =
            eddy::philox(counter<lanes>(static_cast<std::uint64_t>(i)), eddy::PhiloxKey(seed));
        total = total ^ block.w[0] ^ block.w[1] ^ block.w[2] ^ block.w[3];
    }
    sink[0] = static_cast<float>(total[0] ^ total[lanes - 1]);
}

template <int lanes>
void normals_in_packs(std::uint64_t seed) {
    eddy::Pack<float, lanes> total(0.f);
    for (int i = 0; i < drawn / (4 * lanes); ++i) {
        const auto block = eddy::normals(
            eddy::philox(counter<lanes>(static_cast<std::uint64_t>(i)), eddy::PhiloxKey(seed)));
        total = total + ((block.z[0] + block.z[1]) + (block.z[2] + block.z[3]));
    }
    total.store(sink);
}

void normals_alone(std::uint64_t seed) {
    float total = 0;
    for (int i = 0; i < drawn / 4; ++i) {
        const eddy::PhiloxWords<std::uint32_t> at{{0, static_cast<std::uint32_t>(i), 0, 0}};
        const auto block = eddy::normals(eddy::philox(at, eddy::PhiloxKey(seed)));
        total += (block.z[0] + block.z[1]) + (block.z[2] + block.z[3]);
    }
    sink[0] = total;
}

template <class Real>
void standard_normals(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<Real> law;
    Real total = 0;
    for (int i = 0; i < drawn; ++i) total += law(engine);
    sink[0] = static_cast<float>(total);
}

}  // namespace

int main(int argc, char** argv) {
    const int repetitions = argc > 1 ? std::atoi(argv[1]) : 60;
    measure("Philox4x32-10, a word, packs of 8", repetitions, words_in_packs<8>);
    measure("normal, packs of 8", repetitions, normals_in_packs<8>);
    measure("normal, packs of 16", repetitions, normals_in_packs<16>);
    measure("normal, one counter at a time", repetitions, normals_alone);
    measure("std::normal_distribution<float>, mt19937_64", repetitions, standard_normals<float>);
    measure("std::normal_distribution<double>, mt19937_64", repetitions, standard_normals<double>);
    return sink[0] > 1e30f;
}
