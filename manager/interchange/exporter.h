#pragma once
// Writes an experiment in the form of another program, trial by trial. Each form is one
// implementation; export_format.h chooses. One thread owns an exporter.
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/store/store_reader.h"
#include "space/space.h"

namespace attune {

// What every form needs to know of an experiment.
struct ExportedExperiment {
  StoredExperiment stored;
  // As the experiment searches it now. Empty if only the algorithm can read it (Space::unread).
  Space space;
  std::string fidelity;  // Fidelity::metric; empty: the file names none
};
ExportedExperiment exported_experiment(StoredExperiment stored);

// What a form cannot say: a sentence for each, without repetition.
class Losses {
 public:
  void add(const std::string& sentence);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

class Exporter {
 public:
  virtual ~Exporter() = default;

  virtual Result<void> add(const StoredTrial& trial) = 0;  // each trial once
  const Losses& losses() const { return losses_; }

 protected:
  Losses losses_;
};

// Gives all trials to the exporter, in the order of submission, each as it stands when it is read.
Result<void> export_trials(StoreReader& reader, const ExportedExperiment& experiment,
                           Exporter& exporter);

}  // namespace attune
