#pragma once
// Keeps in memory the appended bytes that may not be on the disk yet. They stay after write(2),
// because Linux may drop written pages whose flush fails.
//
// A position counts appended bytes over all files that the journal has had. `shift_` converts it
// into an offset in the present file, which is shorter after a snapshot.
//
//   begin_           written()             appended()
//     |  kept in memory  |  not yet in the file  |
#include <algorithm>
#include <string>

#include "journal/codec.h"
#include "journal/place.h"

namespace attune {

// One thread.
class JournalTail {
 public:
  JournalTail(std::shared_ptr<const UniqueFd> file, std::uint64_t size)
      : file_(std::move(file)), appended_(size), written_(size), begin_(size) {}

  int fd() const { return file_->get(); }
  const std::shared_ptr<const UniqueFd>& file() const { return file_; }

  void append(const JournalRecord& record) {
    encode_record(record.kind, record.payload, memory_);
    appended_ = begin_ + memory_.size();
  }
  std::uint64_t appended() const { return appended_; }
  std::uint64_t written() const { return written_; }

  std::string_view unwritten() const { return std::string_view(memory_).substr(written_ - begin_); }
  std::uint64_t offset() const { return place(written_); }  // in the file, of what is unwritten
  void wrote(std::size_t bytes) { written_ += bytes; }

  // Drops the bytes before `position` from memory. They must have been written.
  void forget(std::uint64_t position) {
    if (position <= begin_) return;
    memory_.erase(0, position - begin_);
    begin_ = position;
  }

  // The written bytes before position `to`: from the beginning of the file, or from position
  // `from`.
  JournalBytes until(std::uint64_t to) const { return bytes(0, begin_, to); }
  JournalBytes between(std::uint64_t from, std::uint64_t to) const {
    return bytes(place(from), from, to);
  }

  // Continues in another file that holds all written bytes: at the same offsets, or (after a
  // snapshot) with the byte of `position` at `offset`.
  void move(std::shared_ptr<const UniqueFd> file) { file_ = std::move(file); }
  void move(std::shared_ptr<const UniqueFd> file, std::uint64_t position, std::uint64_t offset) {
    file_ = std::move(file);
    shift_ = static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(position);
  }

 private:
  std::uint64_t place(std::uint64_t position) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(position) + shift_);
  }
  JournalBytes bytes(std::uint64_t offset, std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t split = std::min(std::max(from, begin_), to);  // from here on: memory
    return {.file = file_,
            .from = offset,
            .to = place(split),
            .memory = split < to ? memory_.substr(split - begin_, to - split) : std::string()};
  }

  std::shared_ptr<const UniqueFd> file_;
  std::int64_t shift_ = 0;
  std::uint64_t appended_, written_;
  std::uint64_t begin_;  // position of the first byte in memory_
  std::string memory_;
};

}  // namespace attune
