#include "dispatcher/journal.h"

namespace attune {
namespace {

std::size_t cost(const JournalRecord& record) {
  return sizeof record + record.frame.payload.size();
}

}  // namespace

void MemoryJournal::append(const JournalRecord& record) {
  records_.push_back(record);
  bytes_ += cost(record);
  while (bytes_ > max_bytes_) {
    bytes_ -= cost(records_.front());
    records_.pop_front();
  }
}

}  // namespace attune
