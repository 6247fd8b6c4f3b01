#pragma once
// attuned's command line and environment.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/usage.h"
#include "daemon/check_plugin.h"
#include "daemon/configuration.h"
#include "daemon/journal_command.h"

namespace attune {

struct Options {
  enum class Run { daemon, list, print_config, check, journal, check_plugin };
  Run run = Run::daemon;
  bool as_json = false;    // with list
  JournalCommand journal;  // with journal
  CheckPlugin check_plugin;
  Configuration configuration;
};

// `environment` holds the variables that NNI's manager sets. `fallback_seed` is used where the user
// gave no seed. A configuration that cannot be used (bad base64, bad JSON, no tuner) is an Error:
// where to log it is known by then, and is filled into `options` before.
std::expected<Result<void>, Usage> read_options(
    int argc, const char* const* argv, const std::map<std::string, std::string>& environment,
    std::uint64_t fallback_seed, Options& options);

}  // namespace attune
