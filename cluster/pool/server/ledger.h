#pragma once
// The journal of the coordinator: opens it, hands over what it holds, appends records, and decides
// when a snapshot is due. Io thread only.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "journal/file.h"
#include "os/durability.h"
#include "os/file_system.h"
#include "os/log.h"

namespace attune {

inline constexpr int kCoordinatorFormat = 2;  // "format" of the header

class Ledger {
 public:
  struct Options {
    std::string path;
    Durability durability = Durability::each_second;
    // At least so many bytes of records come before the next snapshot.
    std::size_t snapshot_bytes = std::size_t{4} << 20;
  };
  // The journal of the former coordinator. It was locked before it was read, so nobody else can
  // open it.
  struct Former {
    std::optional<JournalFile::Existing> file;
    std::optional<std::uint64_t> seed;  // that the former coordinator used; absent: a new journal
  };
  // Locks and reads the journal. An error names the file: it is in use, damaged, or of another
  // program or format.
  static Result<Former> look(FileSystem& files, const Options& options);

  // Called by open() with what the former coordinator left: the state of its newest snapshot, then
  // each record after it.
  struct Readers {
    std::function<Result<void>(const json& state)> load;
    std::function<Result<void>(const json& record)> replay;
  };
  // `seed` must be that of `former`, if it has one; a new journal stores it in its first record.
  // `ready` is that of JournalFile::open. An error names the file, which is unchanged: it is
  // damaged, or a reader refused what it holds.
  static Result<std::unique_ptr<Ledger>> open(FileSystem& files, const Options& options,
                                              Former former, std::uint64_t seed,
                                              const Readers& readers, std::function<void()> ready,
                                              const Log& log);

  bool had_records() const { return had_records_; }
  void append(std::string record);  // JSON text
  // The position behind all appended records. They are durable once durable() has reached it.
  std::uint64_t position() const { return file_->position(); }
  std::uint64_t durable() const { return file_->durable(); }
  const std::string& trouble() const { return file_->trouble(); }
  bool full() const;

  void flush() { file_->flush(); }
  void poll() { file_->poll(); }
  bool needs_tick() const { return file_->needs_tick(); }
  void tick() { file_->tick(); }  // once a second while needs_tick()
  // Writes a snapshot of the state that `save` returns, if one is due.
  void snapshot_if_due(const std::function<json()>& save);
  Result<void> close() { return file_->close(); }

 private:
  Ledger(std::unique_ptr<JournalFile> file, json header, std::size_t snapshot_bytes,
         bool had_records)
      : file_(std::move(file)),
        header_(std::move(header)),
        snapshot_bytes_(snapshot_bytes),
        had_records_(had_records) {}

  std::unique_ptr<JournalFile> file_;
  const json header_;
  const std::size_t snapshot_bytes_;
  const bool had_records_;
  // The value of bytes_since_snapshot() when the last snapshot was begun; 0 after one succeeded.
  std::uint64_t tried_ = 0;
};

}  // namespace attune
