// Any experiment file of `attune run`: an error that names the file, or an experiment whose search
// space is one.
#include "manager/experiment/experiment_file.h"
#include "space/parse.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  // Other files that it names are not what is tried here; one could be a device.
  if (input.find("searchSpaceFile") != input.npos || input.find("file:") != input.npos) return;
  const auto experiment = read_experiment(std::string(input), "experiment.yaml", "/tmp");
  if (!experiment) {
    ATTUNE_CHECK(!experiment.error().message.empty());
    return;
  }
  const auto space = parse_space(experiment->search_space);
  ATTUNE_CHECK(space && space->params.size() == experiment->space.params.size());
}
