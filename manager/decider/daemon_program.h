#pragma once
// Finding attuned, and asking it what it knows before an experiment starts.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A program of ours: in `own_directory`, else in one of the folders of `path` (a PATH).
Result<std::filesystem::path> find_program(const std::string& name,
                                           const std::filesystem::path& own_directory,
                                           const std::string& path);

// `given` (--daemon), else attuned as above.
Result<std::filesystem::path> find_daemon(const std::string& given,
                                          const std::filesystem::path& own_directory,
                                          const std::string& path);

// What `attuned --list --json` prints. Blocks, for at most ten seconds.
Result<json> list_algorithms(const std::filesystem::path& daemon,
                             const std::vector<std::string>& environment);

// What the daemon would refuse of the experiment: what `attuned --check` says.
struct DaemonRefusal {
  std::string part;               // tuner, assessor, searchSpace, or experiment: all of it
  std::vector<std::string> path;  // below the part: "classArgs", "population_size"
  std::string message;
};

// Empty: it can begin, or the daemon is one that cannot tell. `parameters`: those of
// daemon_parameters(). Blocks, for at most ten seconds.
Result<std::vector<DaemonRefusal>> ask_daemon(const std::filesystem::path& daemon,
                                              const std::vector<std::string>& environment,
                                              const json& parameters, const json& search_space);

// Whether the experiment maximises: optimize_mode of `algorithm` ({name, classArgs}), else the
// default that `list` gives under `kind` ("tuners" or "assessors"). Nothing when neither knows.
std::optional<bool> maximizes(const json& algorithm, const json& list, const std::string& kind);

}  // namespace attune
