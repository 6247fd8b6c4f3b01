#pragma once
// Makes the operator (cluster/pool/operator.h) of `attune coordinator`, which gets workers: from
// Slurm, by a command of the user, or not at all.
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
  std::optional<SlurmSettings> slurm;    // if its prefix is empty, the coordinator makes one
  std::string scale_command;             // empty: none
  int most_workers = 1;                  // so many workers the command is asked for at most
  std::filesystem::path program;         // attune
  std::filesystem::path directory;       // of the coordinator
  std::vector<std::string> environment;  // that jobs and the command inherit
};

// Reads the file of the option --slurm: the JSON that a manager has written for its own
// coordinator, or a YAML file with the key `slurm` of an experiment file. Errors name the file and
// the place.
Result<SlurmSettings> read_slurm_file(const std::string& file);

// Reads the key `slurm` of a file for `attune coordinator`. There the keys `listen` and `advertise`
// are mistakes, since the command has options for them. Mistakes become findings of `top`.
SlurmSettings read_coordinator_slurm(const Section& top);

// An empty function: no operator was chosen. Errors: Slurm's programs are not on this machine, or
// the coordinator's folder cannot be used.
Result<MakeOperator> choose_operator(boost::asio::io_context& io, const OperatorChoice& choice,
                                     const Log& log);

}  // namespace attune
