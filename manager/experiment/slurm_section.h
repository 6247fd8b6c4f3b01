#pragma once
// Reads the key `slurm` of an experiment file, for trials that run as jobs of a cluster. Mistakes
// become findings of the section.
#include <optional>
#include <string>

#include "cluster/batch/slurm_settings.h"
#include "manager/experiment/section.h"

namespace attune {

struct SlurmSection {
  SlurmSettings settings;  // without the prefix, which comes from the experiment's id
  // HOST:PORT of the coordinator. Nodes on other machines cannot dial the default.
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // HOST:PORT that the nodes dial; empty: the same as listen
};

SlurmSection read_slurm_section(const std::optional<Section>& section);
// A finding if no job can satisfy the needs of a trial. `top` is the whole file.
void check_slurm_jobs(const Section& top, const SlurmSettings& settings, const Resources& needs);

}  // namespace attune
