#pragma once
// Reads the key `pool` of an experiment file: which coordinator gets the trials.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/experiment/section.h"

namespace attune {

// The experiment uses either an existing coordinator or its own. Its own has workers on this
// machine, and others may join.
struct PoolSettings {
  std::string coordinator;  // absolute: the folder, or an address file, of an existing coordinator;
                            // empty: the experiment's own. The next three are for its own.
  int workers = 1;          // on this machine
  std::string listen = "127.0.0.1:0";
  std::string advertise;            // what other machines dial; empty: the same as listen
  std::vector<std::string> labels;  // a worker must have all of them
  double queue_limit = 0;           // seconds; 0: none
};

// `base`: the folder of the experiment file. Mistakes become findings of the section.
PoolSettings read_pool_settings(const std::optional<Section>& section, const std::string& base);

// Checks an existing coordinator. Error: its folder does not exist, or its address file cannot be
// trusted or read. No error if the file is missing: the coordinator may begin later.
Result<void> check_coordinator(const PoolSettings& settings);

}  // namespace attune
