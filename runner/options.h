#pragma once
// The command line of attune.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace attune {

struct RunOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::string directory;  // --dir; empty: a new folder in experimentWorkingDirectory
  std::optional<std::int64_t> max_trials;
  std::optional<int> concurrency;
  std::string daemon;
  bool quiet = false;
  bool json = false;
};

// What is to be printed instead of running: help, version, a usage error (to standard error).
struct CommandLineEnd {
  int exit_code = 0;
  std::string text;
};

std::expected<RunOptions, CommandLineEnd> parse_command_line(int argc, const char* const* argv);

}  // namespace attune
