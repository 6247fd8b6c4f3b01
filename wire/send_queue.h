#pragma once
// Frames that wait to be sent: an urgent lane, a data lane, and the batch that is being written.
// No I/O. One thread.
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

  // Takes the next frames as the batch: at least one if there is any, urgent ones first. An urgent
  // frame has to wait for the batch that is being written, so a batch is small (64 KiB); only a
  // single frame may be larger.
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
  // Frees the memory of the batch, whose bytes still count in bytes() until drop_batch().
  void free_batch() { batch_.clear(); }
  // The batch has been written.
  void drop_batch() {
    bytes_ -= std::exchange(batch_bytes_, 0);
    batch_.clear();
  }
  // Removes and returns all frames but the batch, in the order in which they would be sent.
  std::string take_waiting() {
    std::string text;
    for (auto* lane : {&urgent_, &data_}) {
      for (const std::string& frame : *lane) text += frame;
    }
    drop_waiting();
    return text;
  }
  // Removes all frames but the batch: the operating system may be reading its memory.
  void drop_waiting() {
    for (auto* lane : {&urgent_, &data_}) {
      for (const std::string& frame : *lane) bytes_ -= cost(frame);
      lane->clear();
    }
  }

  std::size_t bytes() const { return bytes_; }  // sum of cost(), the batch included
  bool waits_urgent() const { return !urgent_.empty(); }
  bool empty() const { return bytes_ == 0; }

  static std::size_t cost(const std::string& frame) { return frame.size() + kFrameOverhead; }

 private:
  // Added for each frame, so that many tiny frames count with the memory that they take.
  static constexpr std::size_t kFrameOverhead = 64;
  static constexpr std::size_t kMostFrames = 64;  // as many as Asio gives to one call
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10;

  std::deque<std::string> urgent_, data_;
  std::vector<std::string> batch_;
  std::size_t bytes_ = 0, batch_bytes_ = 0;
};

}  // namespace attune
