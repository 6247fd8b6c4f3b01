#pragma once
// The one way that threads talk: a FIFO of messages, bounded in bytes.
//
// Producers that must not block (the io thread) use try_push and are told through `on_room` when a
// refused push has a chance again; producers that may block (workers) use push. Closing wakes
// everybody: consumers drain what is left.
// Not asio's channel: absent in Boost 1.74, and in 1.81 its close() drops what is buffered.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace attune {

// Every member may be called from any thread.
template <class T>
class BoundedQueue {
 public:
  // A message larger than the limit is taken when the queue is empty. `on_room` is called by the
  // popping thread, without the lock.
  explicit BoundedQueue(std::size_t limit_bytes, std::function<void()> on_room = {})
      : limit_(limit_bytes), on_room_(std::move(on_room)) {}

  // False: full or closed; the message is untouched. A consumer that sleeps is not woken: wake()
  // does so, once for many messages.
  bool try_push(T& message, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (full(bytes)) {
      refused_ = true;
      return false;
    }
    add(std::move(message), bytes);
    return true;
  }
  void wake() { filled_.notify_one(); }

  // Waits for room; false: closed, the message is dropped.
  bool push(T message, std::size_t bytes) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return closed_ || !full(bytes); });
      if (closed_) return false;
      add(std::move(message), bytes);
    }
    wake();  // without the lock, which the woken thread wants first
    return true;
  }

  // For the few messages of our own making, which must not wait behind the bound.
  bool push_over_limit(T message, std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      add(std::move(message), bytes);
    }
    wake();
    return true;
  }

  // Waits for a message; nothing: closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return take(lock);
  }

  // Nothing: empty at the moment.
  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take(lock);
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    filled_.notify_all();
    room_.notify_all();
  }

  // Drops what nobody has popped yet and `unwanted(message)` names.
  template <class Predicate>
  void erase_if(Predicate&& unwanted) {
    const std::lock_guard lock(mutex_);
    std::erase_if(items_, [&](const Item& item) {
      if (!unwanted(item.message)) return false;
      bytes_ -= item.bytes;
      return true;
    });
    length_ = items_.size();
    room_.notify_all();
  }

  // Costs no lock; another thread may be changing it.
  std::size_t size() const { return length_.load(std::memory_order_relaxed); }

 private:
  struct Item {
    T message;
    std::size_t bytes;
  };

  bool full(std::size_t bytes) const { return !items_.empty() && bytes_ + bytes > limit_; }

  void add(T&& message, std::size_t bytes) {
    items_.push_back({std::move(message), bytes});
    length_ = items_.size();
    bytes_ += bytes;
  }

  std::optional<T> take(std::unique_lock<std::mutex>& lock) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> message(std::move(items_.front().message));
    bytes_ -= items_.front().bytes;
    items_.pop_front();
    length_ = items_.size();
    room_.notify_one();
    // Half empty, not one message: the refused producer should not be woken for each of them.
    const bool tell = refused_ && bytes_ <= limit_ / 2;
    if (tell) refused_ = false;
    lock.unlock();
    if (tell && on_room_) on_room_();
    return message;
  }

  const std::size_t limit_;
  const std::function<void()> on_room_;
  mutable std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<Item> items_;
  std::atomic<std::size_t> length_ = 0;  // of items_; written under the lock
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool refused_ = false;
};

}  // namespace attune
