#pragma once
// The command line of attune-shim, which only the local backend writes.
//   attune-shim [--NAME VALUE]... -- PROGRAM ARGUMENT...
#include <cstdint>
#include <string>
#include <vector>

#include "backends/report/report_rules.h"

namespace attune::shim {

struct Options {
  std::string folder;            // --folder: the trial's directory, absolute
  std::string restore;           // --restore: the checkpoint to copy into the checkpoint directory
  bool keep_checkpoint = false;  // --keep-checkpoint 1: that directory stays as it is
  std::string gpus;              // --gpus: is written into the spool
  std::string memory_events;     // --memory-events: read instead of the cgroup's file
  std::uint64_t output_limit = 64 << 20;  // --output-limit: bytes of stdout, and of stderr
  std::uint64_t grace_ms = 5000;          // --grace-ms: between SIGTERM and SIGKILL
  std::uint64_t files = 0;                // --files: soft RLIMIT_NOFILE of the trial; 0: unchanged
  // --regex-out, --regex-err, --regex-both, each any number of times; --tune-metric 1. With any of
  // these the trial reports by lines of its output, and .nni/metrics is not read.
  std::vector<LinePattern> patterns;
  bool tune_metric = false;
  char** command = nullptr;  // ends with a null pointer
};

// Returns false if the arguments are no such command line.
bool parse(int argc, char** argv, Options& options);

}  // namespace attune::shim
