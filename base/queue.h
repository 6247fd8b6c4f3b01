#pragma once
// The only way in which threads talk: a FIFO of messages, bounded in bytes.
//
// A producer that must not block (the io thread) uses try_push(); after a refusal, `on_room` tells
// it when there is room again. A producer that may block (a worker) uses push(). close() wakes
// everybody; consumers can still pop what is left.
//
// It is not asio's channel: Boost 1.74 has none, and in 1.81 its close() drops what is buffered.
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
  // Cuts the next part off a large message, which is then popped part by part. Returns nothing if
  // the message, or the rest of it, is to be popped whole. Called with the lock held.
  using TakePart = std::function<std::optional<T>(T&)>;

  // A message larger than the limit is accepted if the queue is empty. The popping thread calls
  // `on_room`, without the lock.
  explicit BoundedQueue(std::size_t limit_bytes, std::function<void()> on_room = {},
                        TakePart take_part = {})
      : limit_(limit_bytes), on_room_(std::move(on_room)), take_part_(std::move(take_part)) {}

  // Returns false if the queue is full or closed; then the message is unchanged. It does not wake a
  // sleeping consumer: call wake(), once for several messages.
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

  // Waits for room. Returns false if the queue is closed; then the message is dropped.
  bool push(T message, std::size_t bytes) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return closed_ || !full(bytes); });
      if (closed_) return false;
      add(std::move(message), bytes);
    }
    wake();  // without the lock, because the woken thread needs it first
    return true;
  }

  // Ignores the limit: for the few messages that must not wait for room. Returns false if the queue
  // is closed.
  bool push_over_limit(T message, std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      add(std::move(message), bytes);
    }
    wake();
    return true;
  }

  // Puts the message before all others, and ignores the limit. First calls each(message, bytes) for
  // each waiting message, in order, with the lock held.
  template <class Each>
  bool push_first(T message, std::size_t bytes, Each&& each) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      for (const Item& item : items_) each(item.message, item.bytes);
      items_.push_front({std::move(message), bytes});
      length_ = items_.size();
      bytes_ += bytes;
    }
    wake();
    return true;
  }

  // Waits for a message. Returns nothing if the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return take(lock);
  }

  // Returns nothing if the queue is empty at the moment.
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

  // Drops the waiting messages for which unwanted(message) is true. It calls `unwanted` with the
  // lock held.
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

  // Takes no lock: another thread may be changing the size.
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
    if (take_part_) {
      if (auto part = take_part_(items_.front().message)) return part;
    }
    std::optional<T> message(std::move(items_.front().message));
    bytes_ -= items_.front().bytes;
    items_.pop_front();
    length_ = items_.size();
    room_.notify_one();
    // Only when the queue is half empty: the refused producer should not be woken for each popped
    // message.
    const bool tell = refused_ && bytes_ <= limit_ / 2;
    if (tell) refused_ = false;
    lock.unlock();
    if (tell && on_room_) on_room_();
    return message;
  }

  const std::size_t limit_;
  const std::function<void()> on_room_;
  const TakePart take_part_;
  mutable std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<Item> items_;
  std::atomic<std::size_t> length_ = 0;  // of items_; written under the lock
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool refused_ = false;
};

}  // namespace attune
