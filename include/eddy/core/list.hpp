#pragma once
// A growing array for programs that are made at compile time. A std::vector costs g++ some twenty milliseconds for each type of
// element that constexpr functions keep, this two, and its evaluation takes two thirds of the time by g++, a third by clang.
// Test: tests/core/list.cpp

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// What std::vector is, with its names, for elements that have a default and can be assigned. One that is taken out is assigned
/// its default. Sources of a copy, of `add` and of `insert` may not lie in the list itself.
template <class T>
class List {
  public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;

    constexpr List() = default;
    constexpr explicit List(std::size_t size) { resize(size); }
    constexpr List(std::size_t size, const T& value) { resize(size, value); }
    constexpr List(std::initializer_list<T> all) { add(all.begin(), all.end()); }
    template <class It>
    requires(!std::is_integral_v<It>) constexpr List(It first, It last) { add(first, last); }
    /// From a std::vector.
    template <class Other>
    requires(std::is_same_v<typename Other::value_type, T> &&
             !std::is_same_v<Other, List>) constexpr List(const Other& other) {
        add(other.begin(), other.end());
    }
    constexpr List(const List& other) { add(other.begin(), other.end()); }
    constexpr List(List&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          room_(std::exchange(other.room_, 0)) {}
    constexpr List& operator=(const List& other) {
        if (this != &other) {
            clear();
            add(other.begin(), other.end());
        }
        return *this;
    }
    constexpr List& operator=(List&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
        return *this;
    }
    constexpr ~List() { delete[] data_; }

    constexpr T* begin() { return data_; }
    constexpr T* end() { return data_ + size_; }
    constexpr const T* begin() const { return data_; }
    constexpr const T* end() const { return data_ + size_; }
    constexpr T* data() { return data_; }
    constexpr const T* data() const { return data_; }
    constexpr T& operator[](std::size_t k) { return data_[k]; }
    constexpr const T& operator[](std::size_t k) const { return data_[k]; }
    constexpr T& front() { return data_[0]; }
    constexpr const T& front() const { return data_[0]; }
    constexpr T& back() { return data_[size_ - 1]; }
    constexpr const T& back() const { return data_[size_ - 1]; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }

    constexpr void reserve(std::size_t room) {
        if (room <= room_) return;
        T* moved = new T[room];
        for (std::size_t k = 0; k < size_; ++k) moved[k] = std::move(data_[k]);
        delete[] data_;
        data_ = moved;
        room_ = room;
    }
    constexpr void push_back(T value) {
        make_room(size_ + 1);
        data_[size_++] = std::move(value);
    }
    template <class... Parts>
    constexpr T& emplace_back(Parts&&... parts) {
        push_back(T(std::forward<Parts>(parts)...));
        return back();
    }
    constexpr void pop_back() { shrink(size_ - 1); }
    constexpr void resize(std::size_t size) { resize(size, T()); }
    constexpr void resize(std::size_t size, const T& value) {
        if (size < size_) return shrink(size);
        make_room(size);
        for (T *place = end(), *last = data_ + size; place != last; ++place) *place = value;
        size_ = size;
    }
    constexpr void clear() { shrink(0); }
    constexpr void assign(std::size_t size, const T& value) {
        clear();
        resize(size, value);
    }
    template <class It>
    requires(!std::is_integral_v<It>) constexpr void assign(It first, It last) {
        clear();
        add(first, last);
    }
    constexpr T* insert(const T* place, T value) {
        const std::size_t at = static_cast<std::size_t>(place - data_);
        push_back(std::move(value));
        for (std::size_t k = size_ - 1; k > at; --k) std::swap(data_[k], data_[k - 1]);
        return data_ + at;
    }
    template <class It>
    requires(!std::is_integral_v<It>) constexpr void insert(const T* place, It first, It last) {
        if (place == end()) return add(first, last);
        std::size_t at = static_cast<std::size_t>(place - data_);
        for (; first != last; ++first) insert(data_ + at++, *first);
    }
    constexpr T* erase(const T* place) { return erase(place, place + 1); }
    constexpr T* erase(const T* first, const T* last) {
        const std::size_t at = static_cast<std::size_t>(first - data_),
                          gap = static_cast<std::size_t>(last - first);
        for (std::size_t k = at; k + gap < size_; ++k) data_[k] = std::move(data_[k + gap]);
        shrink(size_ - gap);
        return data_ + at;
    }
    friend constexpr bool operator==(const List& a, const List& b) {
        if (a.size_ != b.size_) return false;
        for (std::size_t k = 0; k < a.size_; ++k) {
            if (!(a.data_[k] == b.data_[k])) return false;
        }
        return true;
    }

    /// Takes out the elements that `is_out` holds of.
    template <class Test>
    friend constexpr void erase_if(List& list, Test is_out) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < list.size_; ++k) {
            if (!is_out(list.data_[k])) {
                if (kept != k) list.data_[kept] = std::move(list.data_[k]);
                ++kept;
            }
        }
        list.shrink(kept);
    }

  private:
    constexpr void shrink(std::size_t size) {
        for (T *place = data_ + size, *last = end(); place != last; ++place) *place = T();
        size_ = size;
    }
    constexpr void make_room(std::size_t size) {
        if (size > room_) reserve(size > 2 * room_ ? size : 2 * room_);
    }
    template <class It>
    constexpr void add(It first, It last) {
        if constexpr (requires { static_cast<std::size_t>(last - first); })
            make_room(size_ + static_cast<std::size_t>(last - first));
        for (; first != last; ++first) push_back(*first);
    }
    T* data_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace eddy::inline v0
