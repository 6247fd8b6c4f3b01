#pragma once
// A journal that a test can read.
#include <vector>

#include "journal/journal.h"

namespace attune {

class MemoryJournal : public Journal {
 public:
  void append(JournalRecord record) override { records.push_back(std::move(record)); }
  void begin_snapshot() override { marks.push_back(records.size()); }

  std::vector<JournalRecord> records;
  std::vector<std::size_t> marks;  // records that were there when a snapshot began
};

}  // namespace attune
