// A model that is text until the program runs, by eddy's light door. Tasks: `first`, from the text to the end of a solve; `solve`;
// `gradient`, of |y(t1)|² with respect to p; `f`, and `vjp`, f and its vector–Jacobian product together, 64 trajectories a call.

#include <algorithm>
#include <eddy/runtime.hpp>
#include <sstream>

#include "arm.hpp"

namespace {

using namespace peers;
using Array = eddy::EnsembleArray<double>;
constexpr eddy::Rows rows{.threads = 1};

/// A file of ../arms/models.py: a line of names of states, one of names of parameters, then an equation a line.
eddy::FieldText read_text(const std::string& file) {
    std::ifstream stream(file);
    const auto names = [&] {
        std::string line;
        std::getline(stream, line);
        std::istringstream words(line);
        return std::vector<std::string>{std::istream_iterator<std::string>(words), {}};
    };
    eddy::FieldText text;
    text.states = names();
    text.parameters = names();
    for (std::string line; std::getline(stream, line);) text.equations.push_back(line);
    return text;
}
Array to_array(const std::vector<double>& values, int lanes, int size) {
    Array array(lanes, size);
    auto next = values.begin();
    for (int lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < size; ++i) array(lane, i) = *next++;
    return array;
}

/// What the tasks share.
class ModelArm : public Arm {
  public:
    explicit ModelArm(const Options& options)
        : t1_(options.number("t1")),
          lanes_(options),
          text_(read_text(options.text("inputs") + "/text")),
          field_(eddy::parse_field(text_)),
          y0_(to_array(lanes_.y0, lanes_.num_run(), lanes_.state_size)),
          p_(to_array(lanes_.p, lanes_.num_run(), lanes_.parameter_size)) {}
    [[nodiscard]] std::string setting() const override {
        return "rtol = atol, PIDController, Rows with 1 thread";
    }
    void set_tolerance(double tolerance) override {
        options_ = {.t1 = t1_, .rtol = std::max(tolerance, 9e-16)};
        options_.atol = options_.rtol;
    }

  protected:
    double t1_;
    Lanes lanes_;
    eddy::FieldText text_;
    eddy::RuntimeField field_;
    Array y0_, p_;
    eddy::SolveOptions options_;
};

Counts counts_of(const eddy::LaneStats& stats) {
    return {static_cast<double>(stats.accepted), static_cast<double>(stats.rejected),
            static_cast<double>(stats.evaluations)};
}

/// A task by an object that is made anew for each tolerance.
template <class Task>
class Kept : public ModelArm {
  public:
    explicit Kept(const Options& options) : ModelArm(options) { set_tolerance(1e-6); }
    void set_tolerance(double tolerance) override {
        ModelArm::set_tolerance(tolerance);
        solver_.reset(new Solver(Task::make(field_, options_)));
    }
    Counts run() override {
        result_ = &(*solver_)(y0_, p_);
        return counts_of(Task::stats(*result_));
    }
    [[nodiscard]] std::vector<double> values() const override {
        return Task::values(lanes_, *result_);
    }

  private:
    using Solver = decltype(Task::make(std::declval<const eddy::RuntimeField&>(), {}));
    using Result = std::remove_reference_t<std::invoke_result_t<Solver&, Array&, Array&>>;
    std::unique_ptr<Solver> solver_;
    const Result* result_ = nullptr;
};

template <class Method>
struct Solve {
    static auto make(const eddy::RuntimeField& field, const eddy::SolveOptions& options) {
        return eddy::ensemble_solver(field, Method{}, options, rows);
    }
    static auto stats(const auto& solution) { return solution.total_stats(); }
    static auto values(const Lanes& lanes, const auto& solution) {
        return looked_at(lanes, lanes.state_size, solution.y());
    }
};
struct SquaredEnd {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};
template <class Method>
struct Gradient {
    static auto make(const eddy::RuntimeField& field, const eddy::SolveOptions& options) {
        return eddy::gradient_solver(field, Method{}, SquaredEnd{}, options, rows);
    }
    static auto stats(const auto& found) { return found.report.total_stats(); }
    static auto values(const Lanes& lanes, const auto& found) {
        return looked_at(lanes, lanes.parameter_size, found.gradient.p);
    }
};

/// The text is read again in every run.
class First : public ModelArm {
  public:
    using ModelArm::ModelArm;
    Counts run() override {
        const auto solved =
            eddy::solve(eddy::parse_field(text_), eddy::Tsit5{}, y0_, p_, options_, rows);
        end_ = looked_at(lanes_, lanes_.state_size, solved.y());
        return counts_of(solved.total_stats());
    }
    [[nodiscard]] std::vector<double> values() const override { return end_; }

  private:
    std::vector<double> end_;
};

/// f, and with it the vector–Jacobian product, in tiles of the width that is fastest here.
class Functions : public ModelArm {
  public:
    explicit Functions(const Options& options)
        : ModelArm(options), pulls_(options.text("task") == "vjp") {
        double least = 1e300;
        int best = 0;
        for (const int width : {8, 16, 32, 64}) {
            prepare(width);
            run();
            for (int round = 0; round < 5; ++round) {
                const auto start = std::clock();
                run();
                const auto time = static_cast<double>(std::clock() - start);
                if (time < least) least = time, best = width;
            }
        }
        prepare(best);
    }
    [[nodiscard]] std::string setting() const override {
        return "tiles of " + std::to_string(tile_->width());
    }
    void set_tolerance(double) override {}
    Counts run() override {
        for (int call = 0; call < num_calls; ++call)
            for (Blocks& of : blocks_) {
                if (!pulls_) {
                    tile_->f(of.t.data(), of.y.data(), of.p.data(), of.dy.data());
                    continue;
                }
                tile_->forward(of.t.data(), of.y.data(), of.p.data(), of.dy.data(), of.kept.data());
                std::fill(of.pbar.begin(), of.pbar.end(), 0);
                tile_->pull(of.t.data(), of.y.data(), of.p.data(), of.kept.data(), of.c.data(),
                            of.ybar.data(), of.pbar.data());
            }
        return {};
    }
    /// dy, or ȳ and p̄, of all trajectories.
    [[nodiscard]] std::vector<double> values() const override {
        std::vector<double> all;
        const auto width = static_cast<std::size_t>(tile_->width());
        for (const Blocks& of : blocks_)
            for (std::size_t lane = 0; lane < width; ++lane)
                for (const auto* rows : {&of.dy, &of.ybar, &of.pbar})
                    if (pulls_ != (rows == &of.dy))
                        for (std::size_t at = lane; at < rows->size(); at += width)
                            all.push_back((*rows)[at]);
        return all;
    }

  private:
    static constexpr int num_calls = 256;
    /// What a tile reads and writes: (row, trajectory).
    struct Blocks {
        std::vector<double> t, y, p, c, dy, ybar, pbar, kept;
    };

    void prepare(int width) {
        tile_ = field_.maker()->on_tile(width);
        blocks_.clear();
        const auto rows = [&](int count) {
            return std::vector<double>(static_cast<std::size_t>(count * width), 1.0);
        };
        for (int first = 0; first < lanes_.num_run(); first += width) {
            const int n = lanes_.state_size, m = lanes_.parameter_size;
            Blocks of{rows(1), rows(n), rows(m), rows(n),
                      rows(n), rows(n), rows(m), rows(tile_->num_residuals())};
            for (int lane = 0; lane < width; ++lane) {
                for (int i = 0; i < n; ++i)
                    of.y[static_cast<std::size_t>(i * width + lane)] =
                        of.c[static_cast<std::size_t>(i * width + lane)] = y0_(first + lane, i);
                for (int i = 0; i < m; ++i)
                    of.p[static_cast<std::size_t>(i * width + lane)] = p_(first + lane, i);
            }
            blocks_.push_back(std::move(of));
        }
    }

    bool pulls_;
    std::unique_ptr<eddy::FieldOnTile> tile_;
    std::vector<Blocks> blocks_;
};

std::unique_ptr<Arm> make(const Options& options) {
    return choose(options.text("task") + options.text("method"), options,
                  {{"first", make_arm<First>},
                   {"solve", make_arm<Kept<Solve<eddy::Tsit5>>>},
                   {"solveVern7", make_arm<Kept<Solve<eddy::Vern7>>>},
                   {"gradient", make_arm<Kept<Gradient<eddy::Tsit5>>>},
                   {"gradientVern7", make_arm<Kept<Gradient<eddy::Vern7>>>},
                   {"f", make_arm<Functions>},
                   {"vjp", make_arm<Functions>}});
}

}  // namespace

int main(int argc, char** argv) { return serve(argc, argv, make); }
