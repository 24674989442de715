#pragma once
// The extreme values of every type that a member of an options struct has, and all structs that
// differ from a good one in one member that has such a value. A type without extremes does not
// compile: say here what they are.

#include <cstdint>
#include <eddy/backends/cpu/executor.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/list.hpp>
#include <eddy/solve/ask/options.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuzz/members.hpp"

namespace fuzz {

/// The extremes of T, as make(value, what it is called).
template <class T>
struct Extremes;

namespace detail {

template <class Number>
std::string number_text(Number value) {
    std::ostringstream out;
    out.precision(17);
    out << value;
    return out.str();
}

}  // namespace detail

template <class T>
requires std::is_floating_point_v<T>
struct Extremes<T> {
    template <class Make>
    static void each(const T&, Make make) {
        using limits = std::numeric_limits<T>;
        for (const T magnitude :
             {T(0), limits::denorm_min(), limits::min(), T(1e-300), limits::epsilon(), T(1),
              T(0x1p31), T(0x1p63), T(1e308), limits::max(), limits::infinity()}) {
            make(magnitude, detail::number_text(magnitude));
            make(-magnitude, detail::number_text(-magnitude));
        }
        make(limits::quiet_NaN(), "nan");
    }
};

template <>
struct Extremes<bool> {
    template <class Make>
    static void each(bool value, Make make) {
        make(!value, value ? "false" : "true");
    }
};

template <class T>
requires std::is_integral_v<T>
struct Extremes<T> {
    template <class Make>
    static void each(const T&, Make make) {
        const auto try_one = [&](auto value) {
            if (std::in_range<T>(value)) make(static_cast<T>(value), std::to_string(value));
        };
        for (const std::int64_t value :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{-1},
              std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}, std::int64_t{1} << 31,
              std::int64_t{UINT32_MAX}, std::int64_t{1} << 32, std::int64_t{1} << 40,
              std::int64_t{1} << 62, std::int64_t{INT64_MAX}, std::int64_t{INT64_MIN}})
            try_one(value);
        try_one(std::uint64_t{1} << 63);
        try_one(std::uint64_t{UINT64_MAX});
    }
};

template <>
struct Extremes<eddy::MemoryBudget> {
    template <class Make>
    static void each(const eddy::MemoryBudget& value, Make make) {
        Extremes<std::size_t>::each(value.bytes, [&](std::size_t bytes, const std::string& text) {
            make(eddy::MemoryBudget(bytes), text);
        });
    }
};

/// Every value of the type below it: those that have no name, too.
template <class T>
requires std::is_enum_v<T>
struct Extremes<T> {
    template <class Make>
    static void each(const T&, Make make) {
        static_assert(sizeof(T) == 1);
        for (int value = 0; value < 256; value = value < 16 ? value + 1 : value * 2 + 1)
            make(static_cast<T>(value), std::to_string(value));
    }
};

template <>
struct Extremes<eddy::Check> {
    template <class Make>
    static void each(const eddy::Check& value, Make make) {
        Extremes<eddy::Check::Kind>::each(value.kind(),
                                          [&](eddy::Check::Kind kind, const std::string& text) {
                                              make(eddy::Check(kind), text);
                                          });
    }
};

template <class T>
struct Extremes<T*> {
    template <class Make>
    static void each(T* const&, Make make) {
        make(nullptr, "null");
    }
};

template <>
struct Extremes<std::string> {
    template <class Make>
    static void each(const std::string& value, Make make) {
        using namespace std::string_literals;
        make(""s, "empty");
        make("/nowhere/at/all"s, "no such directory");
        make("/dev/null"s, "a device");
        make("/proc"s, "not writable");
        make(std::string(100'000, 'x'), "100000 letters");
        make("\0"s, "a zero byte");
        make(value + "\0/below"s, "a zero byte within");
    }
};

template <>
struct Extremes<std::stop_token> {
    template <class Make>
    static void each(const std::stop_token&, Make make) {
        std::stop_source source;
        make(source.get_token(), "not stopped");
        source.request_stop();
        make(source.get_token(), "stopped");
    }
};

/// Callables that let a call do what it would do without them.
template <>
struct Extremes<std::function<bool()>> {
    template <class Make>
    static void each(const std::function<bool()>&, Make make) {
        make([] { return true; }, "always going on");
    }
};
template <>
struct Extremes<eddy::GatherSums> {
    template <class Make>
    static void each(const eddy::GatherSums&, Make make) {
        make([](std::vector<double>&, std::ptrdiff_t) {}, "one process");
    }
};
template <>
struct Extremes<eddy::Watcher> {
    template <class Make>
    static void each(const eddy::Watcher&, Make make) {
        make(eddy::Watcher(true), "a bar");
    }
};
template <>
struct Extremes<eddy::Executor> {
    template <class Make>
    static void each(const eddy::Executor&, Make make) {
        const auto in_turn = [](std::ptrdiff_t workers, const auto& work) {
            for (std::ptrdiff_t worker = workers; worker > 0; --worker) work(worker - 1);
        };
        const auto twice = [](std::ptrdiff_t workers, const auto& work) {
            for (std::ptrdiff_t worker = 0; worker < 2 * workers; ++worker) work(worker % workers);
        };
        make([](std::ptrdiff_t, const auto&) {}, "none run");
        make(in_turn, "run in turn, backward");
        make(twice, "run twice");
    }
};

template <class T>
struct Extremes<std::optional<T>> {
    template <class Make>
    static void each(const std::optional<T>& value, Make make) {
        if (value) make(std::optional<T>(), "nothing");
        Extremes<T>::each(value.value_or(T{}), [&](const T& x, const std::string& text) {
            make(std::optional(x), text);
        });
    }
};

/// Lists: none, one, two of the same, one beside a good one, and very many good ones.
template <class List>
struct ExtremesOfElements {
    template <class Make>
    static void each(const List& value, Make make) {
        using T = typename List::value_type;
        make(List(), "{}");
        const T good = value.empty() ? T{} : value.front();
        Extremes<T>::each(good, [&](const T& x, const std::string& text) {
            make(List{x}, "{" + text + "}");
            make(List{x, x}, "{" + text + ", " + text + "}");
            make(List{good, x}, "{a good one, " + text + "}");
        });
        make(List(64, good), "64 good ones");
        make(List(100'000, good), "100000 good ones");
    }
};
template <class T>
struct Extremes<std::vector<T>> : ExtremesOfElements<std::vector<T>> {};
template <class T>
struct Extremes<eddy::List<T>> : ExtremesOfElements<eddy::List<T>> {};

/// What holds a list of numbers has its extremes.
template <class Held>
struct ExtremesOfList {
    template <class Make>
    static void each(const Held& value, Make make) {
        Extremes<std::vector<double>>::each(
            value.values, [&](const std::vector<double>& list, const std::string& text) {
                make(Held(list), text);
            });
    }
};
template <>
struct Extremes<eddy::Times> : ExtremesOfList<eddy::Times> {};
/// For all trajectories, or each of three.
template <>
struct Extremes<eddy::TimeOption> {
    template <class Make>
    static void each(const eddy::TimeOption& value, Make make) {
        Extremes<double>::each(static_cast<double>(value), [&](double t, const std::string& text) {
            make(eddy::TimeOption(t), text);
            make(eddy::TimeOption(eddy::each(std::vector<double>{t, value, value})),
                 "each: " + text);
        });
    }
};
template <>
struct Extremes<eddy::SaveTimes> {
    template <class Make>
    static void each(const eddy::SaveTimes& value, Make make) {
        Extremes<eddy::Times>::each(value, [&](const eddy::Times& times, const std::string& text) {
            make(eddy::SaveTimes(times), text);
            make(eddy::SaveTimes(eddy::each(times.values)), "each: " + text);
        });
    }
};
/// The fields that are asked read none.
template <>
struct Extremes<eddy::Inputs> {
    template <class Make>
    static void each(const eddy::Inputs&, Make make) {
        make(eddy::Inputs{}, "none");
        make(eddy::piecewise_linear({0, 1}, {1, 2}), "linear");
    }
};
template <>
struct Extremes<eddy::ImpulseNumbers> {
    template <class Make>
    static void each(const eddy::ImpulseNumbers& value, Make make) {
        Extremes<eddy::SaveTimes>::each(
            value, [&](const eddy::SaveTimes& numbers, const std::string& text) {
                make(eddy::ImpulseNumbers(numbers), text);
            });
    }
};
template <>
struct Extremes<eddy::ImpulseKinds> {
    template <class Make>
    static void each(const eddy::ImpulseKinds&, Make make) {
        using enum eddy::Impulse;
        make(eddy::ImpulseKinds(replace), "replace");
        make(eddy::ImpulseKinds{add, scale}, "{add, scale}");
        make(eddy::ImpulseKinds(std::vector<eddy::Impulse>{}), "{}");
    }
};
template <>
struct Extremes<eddy::Tolerance> : ExtremesOfList<eddy::Tolerance> {};

/// Structs within structs: one member of one of them.
template <class T>
requires(std::is_aggregate_v<T> && !std::is_array_v<T>) struct Extremes<T> {
    template <class Make>
    static void each(const T& value, Make make) {
        T changed = value;
        int index = 0;
        for_each_member(changed, [&](auto& member) {
            using Member = std::remove_cvref_t<decltype(member)>;
            const Member kept = member;
            Extremes<Member>::each(kept, [&](const Member& x, const std::string& text) {
                member = x;
                make(std::as_const(changed), "member " + std::to_string(index) + " = " + text);
            });
            member = kept;
            ++index;
        });
    }
};

/// One struct that differs from the good one in a single member.
template <class Struct>
struct Changed {
    Struct value;
    std::string text;         ///< "member 3 = -1"
    bool only_effort = true;  ///< an integer or a switch: how much work, never what comes out
};

/// All of them.
template <class Struct>
std::vector<Changed<Struct>> all_extremes(const Struct& good) {
    std::vector<Changed<Struct>> all;
    Struct changed = good;
    int index = 0;
    for_each_member(changed, [&](auto& member) {
        using Member = std::remove_cvref_t<decltype(member)>;
        const Member kept = member;
        Extremes<Member>::each(kept, [&](const Member& x, const std::string& text) {
            member = x;
            all.push_back(
                {changed, "member " + std::to_string(index) + " = " + text,
                 std::is_integral_v<Member> || std::is_same_v<Member, eddy::MemoryBudget>});
        });
        member = kept;
        ++index;
    });
    return all;
}

}  // namespace fuzz
