#include "trial/metric_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace attune {
namespace {

// Cuts off a torn record: the next one would follow it and be lost, too. Does nothing if something
// else has been appended behind.
void take_back(int fd, ssize_t written) {
  const off_t end = ::lseek(fd, 0, SEEK_CUR);
  struct stat now{};
  if (written <= 0 || ::fstat(fd, &now) != 0 || now.st_size != end) return;
  [[maybe_unused]] const int ignored = ::ftruncate(fd, end - written);  // the error is told anyway
}

}  // namespace

Result<MetricFile> MetricFile::open(const std::filesystem::path& path) {
  std::error_code ignored;  // the file cannot be opened then, which says why
  std::filesystem::create_directories(path.parent_path(), ignored);
  MetricFile file;
  file.path_ = path;
  file.fd_.reset(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.fd_) {
    return fail("cannot open " + path.string() + " for reports: " + std::strerror(errno) +
                "; is NNI_SYS_DIR the folder of a trial that this user may write to?");
  }
  return file;
}

Result<void> MetricFile::append(const json& record) {
  const std::string body = dump_json(record) + "\n";
  std::string length = std::to_string(body.size());
  if (body.size() + 8 >= kMaxRecord) {
    return fail("a report of " + length + " bytes: a manager takes less than " +
                std::to_string(kMaxRecord) + "; write what is large into a file of the trial");
  }
  length.insert(0, 6 - length.size(), '0');
  const std::string bytes = "ME" + length + body;
  ssize_t written = -1;
  do {
    written = ::write(fd_.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written != std::ssize(bytes)) {
    const std::string reason = written < 0 ? std::strerror(errno) : "the disk is full";
    take_back(fd_.get(), written);
    return fail("cannot append a report to " + path_.string() + ": " + reason);
  }
  // NNI's managers watch the time stamp, and miss a change that comes right after they looked.
  ::futimens(fd_.get(), nullptr);
  return {};
}

}  // namespace attune
