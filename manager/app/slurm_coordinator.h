#pragma once
// The operator of `attune coordinator`, as its options say.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "cluster/batch/slurm_settings.h"
#include "cluster/pool/operator.h"
#include "manager/experiment/section.h"
#include "os/log.h"

namespace attune {

struct OperatorChoice {
  std::optional<SlurmSettings> slurm;    // without a prefix: the coordinator makes one up
  std::string scale_command;             // empty: none
  int most_workers = 1;                  // that it is asked for
  std::filesystem::path program;         // attune
  std::filesystem::path directory;       // of the coordinator
  std::vector<std::string> environment;  // that jobs and the command inherit
};

// Of `--slurm FILE`: what a manager has written for its own coordinator, or any file with the key
// `slurm` of an experiment file. Errors name the file and the place in it.
Result<SlurmSettings> read_slurm_file(const std::string& file);

// The key `slurm` of a file for `attune coordinator`, which has options for where it listens.
// What is wrong is a finding.
SlurmSettings read_coordinator_slurm(const Section& top);

// Empty: there is none. Errors: a file of settings that cannot be read, Slurm that is not here.
Result<MakeOperator> choose_operator(boost::asio::io_context& io, const OperatorChoice& choice,
                                     const Log& log);

}  // namespace attune
