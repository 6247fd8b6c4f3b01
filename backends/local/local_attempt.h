#pragma once
// An attempt of the local backend that was started or adopted and has not ended.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backends/local/local_backend.h"
#include "backends/local/trial_inputs.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_folder.h"

namespace attune {

inline bool is_job_id(const std::string& id) {
  return is_checkpoint_id(id);  // the same rule: it becomes the name of a folder
}

struct LocalBackend::Attempt {
  Attempt(boost::asio::io_context& io, const TrialStart& start, UniqueFd file,
          std::uint64_t position, const std::string& objective)
      : job_id(start.job_id),
        number(start.attempt),
        gpus(start.resources.gpu),
        spool(start.job_id, std::move(file), position, parameter_id_of(start.parameter_text),
              objective),
        shim_end(io),
        look_again(io),
        patience(io) {}

  std::string job_id;
  int number;
  double gpus;  // how many it asked for
  std::uint64_t order = 0;
  SpoolReader spool;
  // Kept open, so that results of running trials are still found if somebody moves the experiment's
  // directory. Nothing: the directory was gone when the attempt was adopted.
  std::optional<TrialFolder> folder;
  int watch_key = -1;
  // A pidfd of the shim, readable when the shim has ended. Not open while the shim's process is
  // unknown.
  boost::asio::posix::stream_descriptor shim_end;
  boost::asio::steady_timer look_again;
  boost::asio::steady_timer patience;  // at its end a shim that was told to kill is itself killed
  std::optional<Ending> wanted;        // stopped or paused: how it was told to end
  int signal = 0;                      // the newest signal that was sent to the shim, or will be
  bool sent = true;                    // false: attach() will send `signal`
  bool ready = false;                  // it is in ready_
  bool gpus_known = true;              // gpus_ knows its devices
  bool forced = false;                 // this backend killed the shim
  bool gone = false;                   // the shim has ended: the spool will not grow any more
  enum class Leftover { unknown, hunted, killed } leftover = Leftover::unknown;
};

}  // namespace attune
