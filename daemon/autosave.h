#pragma once
// When the daemon's state is saved: within half a second of a change, and at the end. Io thread
// only; the writing itself has a thread of its own.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "daemon/checkpoint.h"

namespace attune {

class Autosave {
 public:
  struct Calls {
    std::function<void()> collect;  // begins to; save() follows
    std::function<void()> idle;     // a write is done, and none is waiting
  };

  // Without a directory nothing is ever saved. `identity` stands first in each file.
  Autosave(boost::asio::io_context& io, const std::string& directory, json identity, Calls calls,
           Log log);

  void changed();         // there is something to save: soon
  void last();            // what is collected from now on is the end of an orderly run
  void save(json state);  // what was collected; null: nothing
  bool writing() const { return writing_; }

 private:
  void write(json state);
  void on_written(const Result<void>& result);

  boost::asio::io_context& io_;
  const std::string path_;
  const json identity_;
  const Calls calls_;
  Log log_;
  boost::asio::steady_timer timer_;
  bool armed_ = false, collecting_ = false, writing_ = false;
  bool failing_ = false;  // the last write failed
  bool last_ = false;
  std::optional<json> next_;  // to be written after the one in hand
  CheckpointWriter writer_;   // last: its thread posts to the above
};

}  // namespace attune
