#pragma once
// The journal of the coordinator: opens it, gives what is in it, appends, and decides when a
// snapshot is due. Io thread only.
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
    std::size_t snapshot_bytes = std::size_t{4} << 20;  // of records, before there is another one
  };
  // A journal that nobody else can open, from before it is read.
  struct Former {
    std::optional<JournalFile::Existing> file;
    std::optional<std::uint64_t> seed;  // of all draws that its records stand for; none: a new one
  };
  // An error names the file: it is in use, damaged, of another program or format.
  static Result<Former> look(FileSystem& files, const Options& options);

  // What the former coordinator has left: the state of its newest snapshot, then each record.
  struct Readers {
    std::function<Result<void>(const json& state)> load;
    std::function<Result<void>(const json& record)> replay;
  };
  // `seed` is that of `former`, if it has one; a new journal says it from its first record on.
  // `ready` as JournalFile::open's. An error names the file: it is damaged or cannot be followed;
  // nothing was changed then.
  static Result<std::unique_ptr<Ledger>> open(FileSystem& files, const Options& options,
                                              Former former, std::uint64_t seed,
                                              const Readers& readers, std::function<void()> ready,
                                              const Log& log);

  bool had_records() const { return had_records_; }
  void append(std::string record);  // JSON text
  // What was appended before has this position; it is durable when durable() has reached it.
  std::uint64_t position() const { return file_->position(); }
  std::uint64_t durable() const { return file_->durable(); }
  const std::string& trouble() const { return file_->trouble(); }
  bool full() const;

  void flush() { file_->flush(); }
  void poll() { file_->poll(); }
  bool needs_tick() const { return file_->needs_tick(); }
  void tick() { file_->tick(); }  // once a second while needs_tick()
  // When it is time for one, of the state that `save` gives.
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
  std::uint64_t tried_ = 0;  // bytes since the snapshot when the last one was begun
};

}  // namespace attune
