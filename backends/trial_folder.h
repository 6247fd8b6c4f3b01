#pragma once
// The files of one trial, as far as the manager makes them:
//   parameter.cfg        what is to be tried; anew for each attempt
//   parameter_<n>.cfg    what it asked for since (multi-phase); gone when the next attempt starts
//   config.json          the parameters alone, when the command wants them as a file
//   .nni/metrics         what the trial reports; empty when an attempt starts
//   spool.<attempt>      see backends/report/spool.h
// The shim adds stdout and stderr, which go on through all attempts, and checkpoint/.
//
// Folders are made for the user alone, and so are files. A symbolic link in the place of one of
// them is replaced or refused, never followed: the trial writes here too.
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
  static Result<TrialFolder> make(const std::filesystem::path& path);  // its parent is there
  static Result<TrialFolder> open(const std::filesystem::path& path);

  // Whole or not at all. `name` may be a relative path; folders that are missing are made. No part
  // of it may begin with kReservedPrefix. `executable`: for the user.
  Result<void> write(const std::string& name, std::string_view text, bool executable = false) const;
  Result<void> remove(const std::string& name) const;  // a file, where there is one
  // .nni/metrics, empty, and no parameter_<n>.cfg of an earlier attempt.
  Result<void> prepare(int attempt) const;

  // Locked, for a shim; an error while that attempt has one. What is left of an attempt of that
  // number, which its manager has forgotten, is kept beside it.
  Result<UniqueFd> create_spool(int attempt) const;
  std::vector<int> attempts() const;  // those that have a spool, in no order
  // For reading. Invalid when there is none.
  Result<UniqueFd> open_spool(int attempt) const;
  // The folder itself, wherever it may have been moved since.
  int fd() const { return fd_.get(); }

 private:
  TrialFolder(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<UniqueFd> open_file(int folder, const std::string& name, int flags) const;
  // The folder that the path leads to; its last part stays in `name`. Folders that are missing are
  // made, or else the result is invalid.
  Result<UniqueFd> enter(std::string& name, bool make_missing) const;
  void remove_parameters() const;

  std::filesystem::path path_;
  UniqueFd fd_;
};

// Makes the folder, and those above it that are missing.
Result<void> make_private_directories(const std::filesystem::path& path);

}  // namespace attune
