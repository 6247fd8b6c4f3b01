#pragma once
// The operator of `attune coordinator`, as its options say.
#include <filesystem>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "base/result.h"
#include "coordinator/operators/operator.h"

namespace attune {

struct OperatorChoice {
  std::string slurm;                     // file of settings; empty: no jobs
  std::string scale_command;             // empty: none
  int most_workers = 1;                  // that it is asked for
  std::filesystem::path program;         // attune
  std::filesystem::path directory;       // of the coordinator
  std::vector<std::string> environment;  // that jobs and the command inherit
};

// Empty: there is none. Errors: a file of settings that cannot be read, Slurm that is not here.
Result<MakeOperator> choose_operator(boost::asio::io_context& io, const OperatorChoice& choice,
                                     const Log& log);

}  // namespace attune
