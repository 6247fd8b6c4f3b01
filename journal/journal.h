#pragma once
// A journal records, in one total order, everything that the io thread of a program did. The next
// process of the program replays the records and continues where they end. docs/journal.md.
#include <cstdint>
#include <string>

namespace attune {

// The kinds of both programs stand in one list, so that no number means two things: a file of the
// other program is then recognised as such. The numbers are part of the file format; never reuse
// or change one.
enum class RecordKind : std::uint8_t {
  header = 1,    // JSON: the program's settings when the journal began. First record, exactly once
  snapshot = 2,  // JSON: the state at a later moment. Second record, or absent

  // Of attuned.
  begin = 3,    // JSON: a daemon starts (how, version)
  command = 4,  // from the manager: a frame
  tune = 5,     // io takes the next message of the tune worker; empty
  assess = 6,   // io takes the next message of the assess worker; empty
  answer = 7,   // to the manager: a frame. It follows from the records before it
  kept = 8,     // an answer from before the snapshot that the manager may still ask for

  // Of the coordinator.
  edge = 16,  // JSON: a task changes its state, a call changes a buffer, ...
};

struct JournalRecord {
  RecordKind kind = RecordKind::command;
  std::string payload;  // of a frame: its code, then its payload

  bool operator==(const JournalRecord&) const = default;
};

// What the recording code sees of a journal. Io thread only.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual void append(JournalRecord record) = 0;
  // Marks this point of the journal: the snapshot that the caller collects now describes the state
  // after all records appended so far.
  virtual void begin_snapshot() = 0;
};

}  // namespace attune
