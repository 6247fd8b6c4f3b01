#pragma once
// The files of one trial that the manager makes:
//   parameter.cfg        the configuration to try; new for each attempt
//   parameter_<n>.cfg    further configurations that it asked for (multi-phase); deleted when the
//                        next attempt starts
//   config.json          the parameters alone, if the command wants them as a file
//   .nni/metrics         what the trial reports; empty when an attempt starts
//   .nni/answered        exists while reports wait for their decisions; its size is the number of
//                        reports that are decided
//   spool.<attempt>      see backends/report/spool.h
// The shim adds stdout and stderr, which continue through all attempts. It makes checkpoint/ anew
// for each attempt, under other names until it is complete: see backends/checkpoint_folders.h.
//
// Only the user may read directories and files. A symbolic link in the place of one of them is
// replaced or refused, and never followed, because the trial writes here too.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/unique_fd.h"

namespace attune {

inline constexpr std::string_view kReservedPrefix = ".attune-";  // of our own temporary files

class TrialFolder {
 public:
  // Makes the directory if it does not exist; its parent must exist.
  static Result<TrialFolder> make(const std::filesystem::path& path);
  static Result<TrialFolder> open(const std::filesystem::path& path);

  // Writes a file, whole or not at all. `name` may be a relative path; missing directories are
  // made. No part of it may begin with kReservedPrefix. `executable`: the user may
  // execute it.
  Result<void> write(const std::string& name, std::string_view text, bool executable = false) const;
  Result<void> remove(const std::string& name) const;  // a file, if it exists
  // Makes an empty .nni/metrics, and .nni/answered if `in_step`. Deletes each parameter_<n>.cfg of
  // earlier attempts.
  Result<void> prepare(int attempt, bool in_step) const;
  // The first `reports` of this attempt are decided. Does nothing if the trial does not wait for
  // decisions, or if more are decided already. Above kMostAnswers the number is ignored: no trial
  // waits for it.
  static constexpr std::int64_t kMostAnswers = 1 << 24;
  Result<void> answer(std::int64_t reports) const;

  // Makes the spool of an attempt and locks it, for a shim. Error: a shim of this attempt holds it.
  // If there is a spool from an attempt of this number that the manager has forgotten, it is
  // renamed and kept.
  Result<UniqueFd> create_spool(int attempt) const;
  std::vector<int> attempts() const;  // those that have a spool, in any order
  // Opens a spool for reading. The descriptor is invalid if there is none.
  Result<UniqueFd> open_spool(int attempt) const;
  // The directory itself, even if it was moved.
  int fd() const { return fd_.get(); }

 private:
  TrialFolder(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<UniqueFd> open_file(int folder, const std::string& name, int flags) const;
  // Opens the directory of a relative path, and leaves the path's last part in `name`. Missing
  // directories are made if `make_missing`; otherwise the result is then invalid.
  Result<UniqueFd> enter(std::string& name, bool make_missing) const;
  void remove_parameters() const;

  std::filesystem::path path_;
  UniqueFd fd_;
};

// Makes the directory, and missing ones above it.
Result<void> make_private_directories(const std::filesystem::path& path);

}  // namespace attune
