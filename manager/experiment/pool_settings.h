#pragma once
// The key `pool` of an experiment file: which coordinator the trials go to.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/experiment/section.h"

namespace attune {

// Either the coordinator is somewhere else, or the experiment has its own, with workers on this
// machine and whoever joins.
struct PoolSettings {
  std::string coordinator;  // the folder of another one, or a file of it; absolute; empty: its own
  int workers = 1;          // of its own, on this machine
  std::string listen = "127.0.0.1:0";
  std::string advertise;            // what other machines dial, when that is not what it listens to
  std::vector<std::string> labels;  // that a worker must have
  double queue_limit = 0;           // seconds; 0: none
};

// The section; `base`: the folder of the experiment file. What is wrong is a finding.
PoolSettings read_pool_settings(const std::optional<Section>& section, const std::string& base);

// Whether there may be a coordinator where they say: an error when the folder is not there, or when
// its file is none that one may trust and read. One that has not begun yet is none.
Result<void> check_coordinator(const PoolSettings& settings);

}  // namespace attune
