#pragma once
// The file of a study: lines are only ever added. One program at a time: the file is locked while
// the object lives.
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "os/unique_fd.h"
#include "study/study_options.h"

namespace attune {

class StudyFile {
 public:
  // A new file. An error: it exists and is not empty. `files` must outlive the object.
  static Result<std::unique_ptr<StudyFile>> create(const std::string& path, Durability durability,
                                                   FileSystem& files = real_files());
  static Result<std::unique_ptr<StudyFile>> open(const std::string& path, Durability durability,
                                                 FileSystem& files = real_files());
  // Keeps studies from writing to `path`, if it exists, while the returned descriptor lives. An
  // error: a study has it open.
  static Result<UniqueFd> keep_out(const std::string& path);
  ~StudyFile();
  StudyFile(const StudyFile&) = delete;
  StudyFile& operator=(const StudyFile&) = delete;

  Result<std::string> read() const;           // all of it
  Result<void> truncate(std::size_t length);  // what follows was torn
  // Adds lines with one write(), or as few as the system needs. If a write fails, the part that was
  // written is cut off again, if possible. If only the flush fails, the lines are in the file, but
  // perhaps not on the disk.
  Result<void> append(std::string_view lines);

 private:
  StudyFile(FileSystem& files, UniqueFd fd, std::string path, Durability durability);
  static Result<std::unique_ptr<StudyFile>> locked(FileSystem& files, const std::string& path,
                                                   bool create, Durability durability);
  Result<void> sync();

  FileSystem& files_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;  // nobody else writes to it
  std::string path_;
  Durability durability_;
  SystemClock clock_;
  double synced_ = 0;  // when, for each_second
};

}  // namespace attune
