#pragma once
// Frames that wait to be written: two lanes, and the batch that is being written. No I/O.
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace attune {

class SendQueue {
 public:
  void push(std::string frame, bool urgent) {
    bytes_ += cost(frame);
    (urgent ? urgent_ : data_).push_back(std::move(frame));
  }

  // The next frames, at least one if there is any, urgent ones first. A batch is what an urgent
  // frame may have to wait for, so that it is small, though a large frame goes whole.
  const std::vector<std::string>& take_batch() {
    std::size_t size = 0;
    for (auto* lane : {&urgent_, &data_}) {
      while (!lane->empty() && batch_.size() < kMostFrames &&
             (batch_.empty() || size + lane->front().size() <= kMostBytes)) {
        size += lane->front().size();
        batch_bytes_ += cost(lane->front());
        batch_.push_back(std::move(lane->front()));
        lane->pop_front();
      }
    }
    return batch_;
  }
  // The text of the batch is not needed any more. It still counts.
  void free_batch() { batch_.clear(); }
  // The batch is written.
  void drop_batch() {
    bytes_ -= std::exchange(batch_bytes_, 0);
    batch_.clear();
  }
  // All but the batch, as it is to be written.
  std::string take_waiting() {
    std::string text;
    for (auto* lane : {&urgent_, &data_}) {
      for (const std::string& frame : *lane) text += frame;
    }
    drop_waiting();
    return text;
  }
  // All but the batch, which the system may be reading.
  void drop_waiting() {
    for (auto* lane : {&urgent_, &data_}) {
      for (const std::string& frame : *lane) bytes_ -= cost(frame);
      lane->clear();
    }
  }

  std::size_t bytes() const { return bytes_; }  // of all, the batch too, with what a frame costs
  bool waits_urgent() const { return !urgent_.empty(); }
  bool empty() const { return bytes_ == 0; }

  static std::size_t cost(const std::string& frame) { return frame.size() + kFrameOverhead; }

 private:
  static constexpr std::size_t kFrameOverhead = 64;
  static constexpr std::size_t kMostFrames = 64;  // as many as Asio gives to one call
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10;

  std::deque<std::string> urgent_, data_;
  std::vector<std::string> batch_;
  std::size_t bytes_ = 0, batch_bytes_ = 0;
};

}  // namespace attune
