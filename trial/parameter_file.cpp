#include "trial/parameter_file.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "os/atomic_file.h"
#include "os/unique_fd.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

// Events of one folder: a file was written and closed, or renamed into it.
class FolderWatch {
 public:
  explicit FolderWatch(const fs::path& folder) : fd_(::inotify_init1(IN_CLOEXEC)) {
    constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR;
    watching_ = fd_ && ::inotify_add_watch(fd_.get(), folder.c_str(), kEvents) >= 0;
  }

  bool watching() const { return watching_; }

  // Sleeps until `name` was written and closed, or renamed to its place: only such an event says
  // that the file is whole. False: errno says why not.
  bool wait_for(const std::string& name) {
    alignas(inotify_event) char buffer[4096];
    while (true) {
      const ssize_t size = ::read(fd_.get(), buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return false;
      for (ssize_t at = 0; at < size;) {
        inotify_event event;
        std::memcpy(&event, buffer + at, sizeof event);
        if (event.len > 0 && name == buffer + at + sizeof event) return true;
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
  }

 private:
  UniqueFd fd_;
  bool watching_ = false;
};

bool is_there(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size > 0;  // some managers make it, and fill it later
}

}  // namespace

Result<ProposedParameters> parse_proposal(std::string_view text) {
  if (text.empty()) return fail("the file is empty");
  json proposal = TRY(parse_json(text));
  if (!proposal.is_object()) {
    return fail("an object expected, " + std::string(json_type_name(proposal)) + " found");
  }
  const auto id = proposal.find("parameter_id");
  if (id == proposal.end() || !(id->is_number_integer() || id->is_string() || id->is_null())) {
    return fail("\"parameter_id\" must be an integer, a text or null");
  }
  const auto parameters = proposal.find("parameters");
  if (parameters == proposal.end() || !parameters->is_object()) {
    return fail("\"parameters\" must be an object of names and values");
  }
  return ProposedParameters{std::move(*id), std::move(*parameters)};
}

Result<ProposedParameters> read_proposal(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) {
    return fail(text.error().message +
                "; a manager writes it before it starts a trial. To run without a manager, unset "
                "NNI_PLATFORM");
  }
  auto proposal = parse_proposal(*text);
  if (!proposal) return fail(path.string() + ": " + proposal.error().message);
  return proposal;
}

Result<ProposedParameters> await_proposal(const fs::path& path,
                                          const std::function<Result<void>()>& request) {
  // The watch begins before the request: else an answer between the look and the watch would be
  // missed.
  FolderWatch watch(path.parent_path());
  if (!watch.watching()) {
    return fail("cannot watch " + path.parent_path().string() + ": " + std::strerror(errno));
  }
  if (!is_there(path)) {
    TRY(request());
    while (!is_there(path)) {
      if (!watch.wait_for(path.filename().string())) {
        return fail("waiting for " + path.string() + ": " + std::strerror(errno));
      }
    }
  }
  return read_proposal(path);
}

}  // namespace attune
