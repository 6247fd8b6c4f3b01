#pragma once
// Holds messages back, in their order, until the journal records before them are durable. All calls
// come from one thread.
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace attune {

class HeldBack {
 public:
  // `position`: of the journal, behind all records that led to this message.
  void add(std::uint64_t position, std::function<void()> say) {
    waiting_.push_back({position, std::move(say)});
  }
  // The journal is durable up to `durable`: says everything up to there.
  void release(std::uint64_t durable) {
    while (!waiting_.empty() && waiting_.front().position <= durable) {
      const std::function<void()> say = std::move(waiting_.front().say);
      waiting_.pop_front();
      say();
    }
  }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    std::uint64_t position;
    std::function<void()> say;
  };
  std::deque<Waiting> waiting_;
};

}  // namespace attune
