#pragma once
// The one total order of what the daemon received and answered. Written by the io thread only.
#include <cstdint>
#include <deque>
#include <string>

#include "protocol/frame.h"

namespace attune {

struct JournalRecord {
  enum class Kind {
    command,  // from the manager
    early,    // an early-stop result, from the assess worker to the tune worker
    answer,   // to the manager
  };
  Kind kind = Kind::command;
  std::uint64_t number = 0;  // ingress number; an answer carries that of the last ingress before it
  Frame frame;
};

class Journal {
 public:
  virtual ~Journal() = default;
  virtual void append(JournalRecord record) = 0;
};

// Keeps the newest records, up to about `max_bytes` of payload: enough for tests to read the whole
// order, and for a failing daemon to log what came last. The durable journal is a later step.
class MemoryJournal : public Journal {
 public:
  explicit MemoryJournal(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  void append(JournalRecord record) override;
  const std::deque<JournalRecord>& records() const { return records_; }

 private:
  std::deque<JournalRecord> records_;
  std::size_t bytes_ = 0;
  const std::size_t max_bytes_;
};

}  // namespace attune
