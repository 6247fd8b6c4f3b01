#pragma once
// The key `slurm` of an experiment file: trials as jobs of a cluster. What is wrong is a finding.
#include <optional>
#include <string>

#include "cluster/batch/slurm_settings.h"
#include "manager/experiment/section.h"

namespace attune {

struct SlurmSection {
  SlurmSettings settings;  // without the prefix, which is the experiment's
  std::string listen =
      "127.0.0.1:0";      // of the coordinator: good for a cluster of this machine only
  std::string advertise;  // what nodes dial
};

SlurmSection read_slurm_section(const std::optional<Section>& section);
// Whether there can be jobs for trials with these needs; `top` is the whole file.
void check_slurm_jobs(const Section& top, const SlurmSettings& settings, const Resources& needs);

}  // namespace attune
