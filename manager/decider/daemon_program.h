#pragma once
// Finds the program attuned, and asks it before an experiment starts: which algorithms it has, and
// whether it could run the experiment.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// Finds a program of attune: in `own_directory`, else in one of the folders of `path`, which has
// the form of PATH.
Result<std::filesystem::path> find_program(const std::string& name,
                                           const std::filesystem::path& own_directory,
                                           const std::string& path);

// `given` (the option --daemon) if it is not empty, else attuned as find_program() finds it.
Result<std::filesystem::path> find_daemon(const std::string& given,
                                          const std::filesystem::path& own_directory,
                                          const std::string& path);

// The output of `attuned --list --json` with these plug-ins. Blocks for at most ten seconds,
// or two minutes if there are plug-ins.
Result<json> list_algorithms(const std::filesystem::path& daemon,
                             const std::vector<std::string>& environment,
                             const std::vector<json>& plugins = {});

// One mistake for which the daemon would refuse the experiment, as `attuned --check` reports it.
struct DaemonRefusal {
  std::string part;               // tuner, assessor, searchSpace; or experiment: all of it
  std::vector<std::string> path;  // below the part: "classArgs", "population_size"
  std::string message;
};

struct DaemonCheck {
  std::vector<DaemonRefusal> refusals;  // empty: the daemon would start, or is too old to check
  bool judges_reports = false;          // the tuner may pause or stop a trial for a report
  bool learns_from_earlier = false;     // the tuner makes use of Initialize::earlier
};

// Asks `attuned --check`. `parameters`: those of daemon_parameters(). Blocks for at most ten
// seconds.
Result<DaemonCheck> ask_daemon(const std::filesystem::path& daemon,
                               const std::vector<std::string>& environment, const json& parameters,
                               const json& search_space);

// Whether the experiment maximises: the optimize_mode in `algorithm` ({name, classArgs}), else the
// default of that algorithm in `list` (list_algorithms()) under `kind`, "tuners" or "assessors".
// Nothing if neither has one.
std::optional<bool> maximizes(const json& algorithm, const json& list, const std::string& kind);

}  // namespace attune
