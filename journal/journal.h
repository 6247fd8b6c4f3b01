#pragma once
// The one total order of what happened in the io thread of a program, so that a later one goes on
// where it ends. docs/journal.md.
#include <cstdint>
#include <string>

namespace attune {

// In one list, so that no number means two things. A journal has those of its program.
enum class RecordKind : std::uint8_t {
  header = 1,    // JSON: what the program was told when all began. The first record, once
  snapshot = 2,  // JSON: the state at a later moment; after the header, once or not at all

  // Of attuned.
  begin = 3,    // JSON: a daemon starts (how, version)
  command = 4,  // from the manager: a frame
  tune = 5,     // io takes the next message of the tune worker; empty
  assess = 6,   // io takes the next message of the assess worker; empty
  answer = 7,   // to the manager: a frame. What came before it led to it
  kept = 8,     // an answer from before the snapshot that the manager may not have received

  // Of the coordinator.
  edge = 16,  // JSON: a task changes its state
};

struct JournalRecord {
  RecordKind kind = RecordKind::command;
  std::string payload;  // of a frame: its code, then its payload

  bool operator==(const JournalRecord&) const = default;
};

// Where it is written. Io thread only.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual void append(JournalRecord record) = 0;
  // The state that is being collected is that after all records so far.
  virtual void begin_snapshot() = 0;
};

}  // namespace attune
