#include "daemon/autosave.h"

#include <boost/asio/post.hpp>

namespace attune {
namespace {

// After a crash at most the results of the last second are missing: this, and the time to write.
constexpr std::chrono::milliseconds kDelay{500};

}  // namespace

Autosave::Autosave(boost::asio::io_context& io, const std::string& directory, json identity,
                   Calls calls, Log log)
    : io_(io),
      path_(directory.empty() ? "" : checkpoint_path(directory)),
      identity_(std::move(identity)),
      calls_(std::move(calls)),
      log_(std::move(log)),
      timer_(io),
      writer_(path_, [this](const Result<void>& result) {
        boost::asio::post(io_, [this, result] { on_written(result); });
      }) {}

void Autosave::changed() {
  if (path_.empty() || armed_ || collecting_ || writing_) return;
  armed_ = true;
  timer_.expires_after(kDelay);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    armed_ = false;
    collecting_ = true;
    calls_.collect();
  });
}

void Autosave::last() {
  timer_.cancel();
  last_ = true;
}

void Autosave::save(json state) {
  collecting_ = false;
  if (state.is_null() || path_.empty()) return;
  state[kClean] = last_;
  if (writing_) {
    next_ = std::move(state);
  } else {
    write(std::move(state));
  }
}

void Autosave::write(json state) {
  json whole = identity_;
  for (auto& [key, value] : state.items()) whole[key] = std::move(value);
  writing_ = true;
  writer_.write(std::move(whole));
}

void Autosave::on_written(const Result<void>& result) {
  writing_ = false;
  if (!result && !failing_) {
    log_.error("checkpoint not written, trying again after each change: {}",
               result.error().message);
  } else if (result && failing_) {
    log_.info("the checkpoint is written again: {}", path_);
  }
  failing_ = !result;
  if (next_) {
    write(*std::exchange(next_, std::nullopt));
  } else {
    calls_.idle();
  }
}

}  // namespace attune
