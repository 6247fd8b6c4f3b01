#include "dispatcher/journal.h"

namespace attune {
namespace {

std::size_t cost(const JournalRecord& record) {
  return sizeof record + record.frame.payload.size();
}

}  // namespace

void MemoryJournal::append(JournalRecord record) {
  bytes_ += cost(record);
  records_.push_back(std::move(record));
  while (bytes_ > max_bytes_) {
    bytes_ -= cost(records_.front());
    records_.pop_front();
  }
}

}  // namespace attune
