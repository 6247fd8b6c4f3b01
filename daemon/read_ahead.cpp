#include "daemon/read_ahead.h"

#include <boost/asio/post.hpp>

#include "protocol/codec.h"

namespace attune {
namespace {

namespace asio = boost::asio;

// What a frame costs beside its payload.
constexpr std::size_t kFrameOverhead = 64;

}  // namespace

void ReadAhead::begin(std::function<void(End)> ended) {
  ended_ = std::move(ended);
  channel_.attach(*this);
  channel_.receive();
}

void ReadAhead::attach(ChannelEvents& events) {
  events_ = &events;
  ended_ = {};
  channel_.attach(*this);
}

void ReadAhead::on_input() {
  if (events_) return events_->on_input();
  read();
}

void ReadAhead::on_end(ExitCode code) {
  if (events_) return events_->on_end(code);
  end_ = code;
  report({.code = code});
}

void ReadAhead::on_output() {
  if (events_) events_->on_output();
}

void ReadAhead::read() {
  while (bytes_ < most_) {
    auto frame = channel_.next();
    if (!frame) {
      broken_ = frame.error();
      return report({.code = kExitProtocol});
    }
    if (!*frame) return channel_.receive();
    const bool terminate = (*frame)->code == code_of(Terminate{});
    bytes_ += (*frame)->payload.size() + kFrameOverhead;
    frames_.push_back(**std::move(frame));
    if (terminate) report({.terminate = true});
  }
}

void ReadAhead::report(End end) {
  if (auto ended = std::exchange(ended_, {})) ended(end);
}

void ReadAhead::receive() {
  if (!has_any()) return channel_.receive();
  wanted_ = true;
  asio::post(io_, [this] { tell(); });
}

void ReadAhead::tell() {
  if (!std::exchange(wanted_, false)) return;
  if (!frames_.empty() || broken_) {
    events_->on_input();
  } else if (end_) {
    events_->on_end(*end_);
  } else {
    channel_.receive();  // next() was asked meanwhile, and all of it was taken
  }
}

Result<std::optional<Frame>> ReadAhead::next() {
  if (!frames_.empty()) {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }
  if (broken_) return std::unexpected(*broken_);
  if (end_) return std::nullopt;
  return channel_.next();
}

void ReadAhead::stop_receiving() {
  wanted_ = false;
  frames_.clear();
  channel_.stop_receiving();
}

}  // namespace attune
