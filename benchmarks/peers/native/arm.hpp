#pragma once
// An arm of benchmarks/peers in C++: harness/protocol.py says what is spoken. An arm sets itself up from the options of its command
// line, runs when it is asked to, and hands out what the last run computed for the lanes whose error is looked at.

#include <ctime>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace peers {

/// Key and value, as on the command line.
class Options {
  public:
    Options(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            const std::string word = argv[i];
            const auto equals = word.find('=');
            if (equals != std::string::npos)
                values_[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }
    [[nodiscard]] std::string text(const std::string& key,
                                   const std::string& otherwise = "") const {
        const auto found = values_.find(key);
        return found == values_.end() ? otherwise : found->second;
    }
    [[nodiscard]] double number(const std::string& key, double otherwise = 0) const {
        const std::string found = text(key);
        return found.empty() ? otherwise : std::stod(found);
    }
    [[nodiscard]] int integer(const std::string& key, int otherwise = 0) const {
        return static_cast<int>(number(key, otherwise));
    }

  private:
    std::map<std::string, std::string> values_;
};

/// What a run took, all lanes together; negative: not told.
struct Counts {
    double accepted = -1, rejected = -1, evaluations = -1;
};

class Arm {
  public:
    Arm() = default;
    Arm(const Arm&) = delete;
    Arm& operator=(const Arm&) = delete;
    virtual ~Arm() = default;

    [[nodiscard]] virtual std::string setting() const = 0;
    virtual void set_tolerance(double) {}
    virtual Counts run() = 0;
    /// Further keys and values of the last run, each with a space before it.
    [[nodiscard]] virtual std::string more() const { return ""; }
    /// Of the lanes that are looked at, one after another.
    [[nodiscard]] virtual std::vector<double> values() const = 0;
};

/// Every `stride`-th of `lanes` lanes is run; `check` of them, evenly spaced, are looked at.
struct Lanes {
    int lanes, stride, check;
    std::vector<double> y0, p;  // (lane, component), of those that are run
    int state_size, parameter_size;

    explicit Lanes(const Options& options)
        : lanes(options.integer("lanes")),
          stride(options.integer("stride", 1)),
          check(options.integer("check", lanes)) {
        y0 = read(options.text("inputs") + "/y0", state_size);
        p = read(options.text("inputs") + "/p", parameter_size);
    }
    [[nodiscard]] int num_run() const { return lanes / stride; }
    /// Between looked-at lanes, in lanes that are run.
    [[nodiscard]] int check_spacing() const { return lanes / check / stride; }

  private:
    [[nodiscard]] std::vector<double> read(const std::string& file, int& size) const {
        std::ifstream stream(file, std::ios::binary);
        std::vector<double> all, kept;
        for (double x = 0; stream.read(reinterpret_cast<char*>(&x), sizeof x);) all.push_back(x);
        if (all.empty()) throw std::runtime_error("no inputs in " + file);
        size = static_cast<int>(all.size()) / lanes;
        for (int lane = 0; lane < lanes; lane += stride) {
            for (int i = 0; i < size; ++i)
                kept.push_back(all[static_cast<std::size_t>(lane) * static_cast<std::size_t>(size) +
                                   static_cast<std::size_t>(i)]);
        }
        return kept;
    }
};

/// Components of the lanes that are looked at, one lane after another: `component(lane, i)`, with the lane among those that are run.
inline std::vector<double> looked_at(const Lanes& lanes, int size, const auto& component) {
    std::vector<double> values;
    for (int lane = 0; lane < lanes.num_run(); lane += lanes.check_spacing()) {
        for (int i = 0; i < size; ++i) values.push_back(static_cast<double>(component(lane, i)));
    }
    return values;
}

/// One word with its keys and values; values are quoted with ' where needed, as harness/protocol.py reads them.
inline void say(const std::string& line) { std::cout << line << std::endl; }
inline std::string quoted(std::string text) {
    for (char& c : text) {
        if (c == '\'' || c == '\n') c = ' ';
    }
    return "'" + text + "'";
}

namespace detail {

inline std::string value_of(const std::string& line, const std::string& key) {
    const auto at = line.find(key + "=");
    if (at == std::string::npos) throw std::runtime_error("no " + key + " in: " + line);
    std::string value = line.substr(at + key.size() + 1);
    if (!value.empty() && value[0] == '\'') return value.substr(1, value.find('\'', 1) - 1);
    return value.substr(0, value.find(' '));
}

inline void run(Arm& arm, int repeats) {
    Counts counts;
    const auto processor_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) counts = arm.run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double processor = static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
    char line[256];
    std::snprintf(line, sizeof line, "done wall=%.9g processor=%.9g", wall.count(), processor);
    std::string told = line;
    if (counts.accepted >= 0) told += " accepted=" + std::to_string(counts.accepted);
    if (counts.rejected >= 0) told += " rejected=" + std::to_string(counts.rejected);
    if (counts.evaluations >= 0) told += " evaluations=" + std::to_string(counts.evaluations);
    say(told + arm.more());
}

inline void answer(Arm& arm, const std::string& line) {
    if (line.starts_with("tolerance")) {
        arm.set_tolerance(std::stod(value_of(line, "value")));
        say("ok");
    } else if (line.starts_with("run")) {
        run(arm, std::stoi(value_of(line, "repeats")));
    } else if (line.starts_with("values")) {
        const std::vector<double> values = arm.values();
        std::ofstream stream(value_of(line, "file"), std::ios::binary);
        stream.write(reinterpret_cast<const char*>(values.data()),
                     static_cast<std::streamsize>(values.size() * sizeof(double)));
        stream.close();
        say("ok");
    }
}

}  // namespace detail

/// How an arm is made, by the name that the options call it.
struct Choice {
    std::string name;
    std::unique_ptr<Arm> (*make)(const Options&);
};

template <class Which>
[[nodiscard]] std::unique_ptr<Arm> make_arm(const Options& options) {
    return std::make_unique<Which>(options);
}

[[nodiscard]] inline std::unique_ptr<Arm> choose(const std::string& name, const Options& options,
                                                 const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) {
        if (choice.name == name) return choice.make(options);
    }
    throw std::runtime_error("not built for " + name);
}

/// The whole life of an arm. `make` throws for options that it does not know.
inline int serve(int argc, char** argv,
                 const std::function<std::unique_ptr<Arm>(const Options&)>& make) {
    try {
        const Options options(argc, argv);
        const std::unique_ptr<Arm> arm = make(options);
        say("ready compile=" + options.text("compile_seconds", "0") +
            " setting=" + quoted(arm->setting()));
        for (std::string line; std::getline(std::cin, line) && line != "quit";)
            detail::answer(*arm, line);
        return 0;
    } catch (const std::exception& error) {
        say("failed reason=" + quoted(error.what()));
        return 1;
    }
}

}  // namespace peers
