#pragma once
// Equations that were made last. A call that is no solver object traces its loss anew, a functor as well, and makes the
// steps of its method, or carries tangents: where that is what the call before had, its lists and its machine code are there.
// Test: tests/ad/rows/latest_fields.cpp

#include <algorithm>
#include <eddy/trace/rows/field_on_tile.hpp>
#include <eddy/trace/rows/row_level.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

/// At most so many, each found by its key. Safe to call from several threads.
template <class Key, std::size_t most>
class LatestFields {
  public:
    using Field = std::shared_ptr<const FieldMaker>;

    /// That of an equal key, or what `make` makes, if anything, then kept under `kept_as(field)`.
    template <class Make, class KeptAs>
    [[nodiscard]] Field find_or_make(const Key& key, const Make& make, const KeptAs& kept_as) {
        if (Field known = find(key)) return known;
        const Field made = make();
        if (made) keep({kept_as(*made), made});
        return made;
    }
    template <class Make>
    [[nodiscard]] Field find_or_make(const Key& key, const Make& make) {
        return find_or_make(key, make, [&](const FieldMaker&) { return key; });
    }

  private:
    struct Entry {
        Key key;
        Field field;
    };

    [[nodiscard]] Field find(const Key& key) {
        const std::lock_guard lock(mutex_);
        const auto known = std::find_if(entries_.rbegin(), entries_.rend(),
                                        [&](const Entry& entry) { return entry.key == key; });
        if (known == entries_.rend()) return nullptr;
        std::rotate(known.base() - 1, known.base(), entries_.end());
        return entries_.back().field;
    }
    void keep(Entry entry) {
        Field oldest;  // what nobody else has is destroyed after the lock
        const std::lock_guard lock(mutex_);
        if (entries_.size() == most) {
            oldest = std::move(entries_.front().field);
            entries_.erase(entries_.begin());
        }
        entries_.push_back(std::move(entry));
    }

    std::mutex mutex_;
    std::vector<Entry> entries_;  // the latest last
};

/// The same of one equation with tangents along some directions.
using LatestTangents = LatestFields<std::vector<Direction>, 4>;
/// What steps of an equation are found by: the table of the method, and what else is constant in them.
struct StepsKey {
    const void* method;
    RowLevel level;
    int num_orders = 1;             // of derivatives
    std::vector<double> numbers{};  // tolerances

    [[nodiscard]] bool operator==(const StepsKey&) const = default;
};
/// An equation that keeps its steps.
struct KeepsSteps {
    mutable LatestFields<StepsKey, 4> steps;
};

}  // namespace eddy::inline v0::detail
