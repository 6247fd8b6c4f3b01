#pragma once
// The file of a study: lines are only ever added. One program at a time: the file is locked until
// the object goes.
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "study/study_options.h"

namespace attune {

class StudyFile {
 public:
  // A new file; one that exists is an error, unless it is empty.
  static Result<std::unique_ptr<StudyFile>> create(const std::string& path, Durability durability);
  static Result<std::unique_ptr<StudyFile>> open(const std::string& path, Durability durability);
  // No study may write to `path`, if it exists, while what is returned lives. An error: one does.
  static Result<UniqueFd> keep_out(const std::string& path);
  ~StudyFile();
  StudyFile(const StudyFile&) = delete;
  StudyFile& operator=(const StudyFile&) = delete;

  Result<std::string> read() const;           // all of it
  Result<void> truncate(std::size_t length);  // what follows was torn
  // With one write; when it fails, nothing of it is left if that can be helped.
  Result<void> append(std::string_view lines);

 private:
  StudyFile(UniqueFd fd, std::string path, Durability durability);
  static Result<std::unique_ptr<StudyFile>> locked(const std::string& path, int flags,
                                                   Durability durability);
  Result<void> sync();

  UniqueFd fd_;
  std::string path_;
  Durability durability_;
  SystemClock clock_;
  double synced_ = 0;  // when, for each_second
};

}  // namespace attune
