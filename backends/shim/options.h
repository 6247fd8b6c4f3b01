#pragma once
// The command line of attune-shim. Only the local backend writes it.
//   attune-shim [--NAME VALUE]... -- PROGRAM ARGUMENT...
#include <cstdint>
#include <string>
#include <vector>

#include "backends/report/report_rules.h"

namespace attune::shim {

struct Options {
  std::string folder;            // --folder: of the trial, absolute
  std::string restore;           // --restore: the folder whose content the checkpoint folder gets
  bool keep_checkpoint = false;  // --keep-checkpoint 1: the folder stays as it is
  std::string gpus;              // --gpus: goes into the spool
  std::string memory_events;     // --memory-events: instead of the file of our cgroup
  std::uint64_t output_limit = 64 << 20;  // --output-limit: bytes of stdout, and of stderr
  std::uint64_t grace_ms = 5000;          // --grace-ms: between SIGTERM and SIGKILL
  std::uint64_t files = 0;                // --files: soft RLIMIT_NOFILE of the trial; 0: as it is
  // --regex-out, --regex-err, --regex-both, each any number of times; --tune-metric 1. With one of
  // these the trial reports by lines of its output, and .nni/metrics is not read.
  std::vector<LinePattern> patterns;
  bool tune_metric = false;
  char** command = nullptr;  // ends with a null pointer
};

// False when it is not such a line.
bool parse(int argc, char** argv, Options& options);

}  // namespace attune::shim
