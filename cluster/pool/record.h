#pragma once
// The edges of the state machines, as the journal has them: replaying them gives the same Board.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

enum class Edge {
  began,     // a coordinator starts: its number; again: it takes tasks, although it was latched
  created,   // a task, queued: spec
  leased,    // worker, lease
  running,   // its worker has started it
  closing,   // told to end: text is how, cause is why, again: the next attempt follows
  requeued,  // queued again: attempt, cause
  ended,     // state, cause, text is the report of the worker
  gone,      // its client knows the end: forgotten
  info,      // of a task of the commander: text is JSON, the position behind it
  latched,   // all is done: nothing new begins
  named,     // a client, which has a name from now on: client, key
};

// Which fields count depends on the edge. All have initialisers, so that one may name only those.
struct Record {
  Edge edge = Edge::began;
  double at = 0;          // seconds since 1970-01-01 UTC
  std::string task = {};  // its id
  std::optional<TaskSpec> spec = {};
  std::string worker = {};
  std::uint64_t number = 0;  // of a lease, a coordinator; a position
  int attempt = 0;
  TaskState state = TaskState::queued;
  std::string cause = {};  // a sentence
  std::string text = {};
  bool again = false;
  std::string client = {};
  // 64 hexadecimal digits, in no journal of an earlier version. Of a client or, leased, a worker:
  // the digest of its key. Began, the first: the secret of which the keys of programs are made.
  std::string key = {};

  bool operator==(const Record&) const = default;
};

// JSON text, on one line.
std::string encode_record(const Record& record);
Result<Record> record_from_json(const json& object);
Result<Record> decode_record(std::string_view text);

}  // namespace attune
