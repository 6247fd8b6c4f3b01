#pragma once
// The transitions of the state machines as the journal stores them. Replaying all records rebuilds
// the Board.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/pool/task.h"

namespace attune {

enum class Edge {
  began,     // a coordinator begins: number; again: it accepts tasks again after `latched`
  created,   // a task is queued: spec
  leased,    // worker, number (of the lease), key
  running,   // its worker has started it
  closing,   // told to end: text is how, cause is why; again: another attempt follows
  requeued,  // queued again: attempt, cause
  ended,     // state, cause, text is the report of the worker
  gone,      // the board drops the ended task: its client has stored the end, or it has none
  info,      // from a commander's task: text is the event (JSON), number the position behind it
  latched,   // everything is told to end: no new task begins
  named,     // a client's name gets its owner: client, key
};

// Which fields are used depends on the edge. All have initialisers, so that code may name the used
// ones only.
struct Record {
  Edge edge = Edge::began;
  double at = 0;          // seconds since 1970-01-01 UTC
  std::string task = {};  // its id
  std::optional<TaskSpec> spec = {};
  std::string worker = {};
  std::uint64_t number = 0;  // of a lease or a coordinator, or a position
  int attempt = 0;
  TaskState state = TaskState::queued;
  std::string cause = {};  // a sentence
  std::string text = {};
  bool again = false;
  std::string client = {};
  // 64 hexadecimal digits; journals of earlier versions have none. named: digest of the client's
  // key. leased: digest of the worker's key. The first began: the secret from which the keys of
  // programs are derived.
  std::string key = {};

  bool operator==(const Record&) const = default;
};

// JSON text, on one line.
std::string encode_record(const Record& record);
Result<Record> record_from_json(const json& object);
Result<Record> decode_record(std::string_view text);

}  // namespace attune
