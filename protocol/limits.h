#pragma once
// The limits of what a manager can send or make the daemon remember, and the option of attuned for
// each. docs/protocol.md, "Flow control and limits", is the table for users.
#include <cstddef>
#include <span>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct Limits {
  // Of transport. A payload beyond the limit ends the conversation; beyond that of a queue the
  // manager waits.
  std::size_t payload = std::size_t{64} << 20;  // bytes of a frame, in both directions
  std::size_t queue = std::size_t{8} << 20;     // bytes in each queue, and of answers that wait

  // Of one command. A command beyond a limit is ignored, with an error in the log.
  std::size_t depth = 256;
  std::size_t keys = 20'000;
  std::size_t string = std::size_t{4} << 20;
  std::size_t elements = 1'000'000;
  std::size_t values = 5'000'000;
  std::size_t id = 1024;  // bytes of an id of a job, of a checkpoint, or of a parameter id

  // Of what is remembered. These shape answers: a daemon that replays a journal needs the limits
  // that the journal was written with.
  std::size_t request = 100'000;        // trials of one RequestTrialJobs
  std::size_t outstanding = 1'000'000;  // trials asked for, or added, that have not ended
  std::size_t history = 100'000;        // intermediate results of one trial
  // Bytes of the commands that brought the intermediate results of all trials that have not ended.
  std::size_t histories = std::size_t{256} << 20;
  std::size_t jobs = 100'000;       // jobs beside the first one of each of our trials
  std::size_t imports = 1'000'000;  // imported results

  JsonLimits json() const {
    return {.depth = depth,
            .keys = keys,
            .string_bytes = string,
            .elements = elements,
            .values = values};
  }
  bool operator==(const Limits&) const = default;
};

struct LimitEntry {
  const char* name;  // of the option: --max-NAME; in JSON max_NAME
  std::size_t Limits::* value;
  std::size_t least, most;  // the range of the option
  const char* help;
};
std::span<const LimitEntry> limit_entries();  // of every member, in order

json to_json(const Limits& limits);  // {"max_payload": 67108864, ...}
// Missing limits get their defaults; unknown ones, which another version wrote, are ignored.
Result<Limits> limits_from_json(const json& value);

}  // namespace attune
