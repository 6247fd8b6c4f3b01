#include "cluster/batch/slurm_refusal.h"

#include <fmt/format.h>

#include <array>

namespace attune {
namespace {

struct Known {
  std::string_view text;  // part of sbatch's message
  bool permanent;
  std::string_view about;
  std::string_view cure;
};

constexpr std::string_view kPartitions = "`sinfo -s` lists the partitions";
constexpr std::string_view kSize = "`sinfo -o '%P %c %m %G %l'` shows what the nodes have";
constexpr std::string_view kTooMany = "as many jobs are submitted as the site permits";

// Slurm's programs have one exit code for all errors, so only their messages tell them apart. The
// first match counts: errors that pass come before the general sentence that sbatch ends with, and
// precise texts before general ones. All were seen with 22.05, except those of QOS and associations
// (which need slurmdbd) and of munge.
constexpr std::array kKnown = {
    Known{"Unable to contact slurm controller", false, "", ""},
    Known{"Socket timed out", false, "", ""},
    Known{"emporarily unable to accept job", false, "", ""},
    Known{"emporarily unavailable", false, "", ""},
    Known{"standby mode", false, "", ""},
    Known{"Transport endpoint is not connected", false, "", ""},
    Known{"Zero Bytes were transmitted", false, "", ""},
    Known{"Connection refused", false, "", ""},
    Known{"Connection reset", false, "", ""},
    Known{"Connection timed out", false, "", ""},
    Known{"connection failure", false, "", ""},
    Known{"Message send failure", false, "", ""},
    Known{"Message receive failure", false, "", ""},
    Known{"I/O error writing script", false, "", "the controller's disk may be full"},
    Known{"uthentication", false, "", "munge here or at the controller may be in trouble"},
    Known{"unge", false, "", "munge here or at the controller may be in trouble"},
    Known{"not available now", false, "", ""},
    Known{"inactive or drain", false, "partition", kPartitions},
    Known{"MaxSubmitJob", false, "", kTooMany},
    Known{"GrpSubmitJob", false, "", kTooMany},
    Known{"PerJob", true, "resources", "the account or qos does not permit so much"},
    Known{"MaxWall", true, "timeLimit", "the account or qos does not permit so much"},
    Known{"violates accounting/QOS policy", false, "", kTooMany},
    Known{"Invalid partition name", true, "partition", kPartitions},
    Known{"not permitted to use this partition", true, "partition", kPartitions},
    Known{"Invalid account", true, "account", "`sacctmgr show associations` lists yours"},
    Known{"Invalid qos", true, "qos", "`sacctmgr show qos` lists them"},
    Known{"time limit is invalid", true, "timeLimit", kSize},
    Known{"generic resource (gres)", true, "resources or gres", kSize},
    Known{"Memory ", true, "resources.memory", kSize},
    Known{"CPU count", true, "resources.cpu", kSize},
    Known{"More processors requested", true, "resources.cpu", kSize},
    Known{"node configuration is not available", true, "resources", kSize},
    Known{"Invalid feature", true, "arguments", ""},
    Known{"Invalid node name", true, "arguments", ""},
    Known{"Invalid license", true, "arguments", ""},
    Known{"Node count", true, "arguments", ""},
    Known{"reservation", true, "arguments", ""},
    Known{"dependency", true, "arguments", ""},
    Known{"unrecognized option", true, "arguments", "`sbatch --help` lists them"},
    Known{"invalid option", true, "arguments", "`sbatch --help` lists them"},
    Known{"Invalid --", true, "arguments", "`sbatch --help` lists them"},
    Known{"process configuration file", true, "",
          "the machine has no slurm.conf; set SLURM_CONF, or start this where sbatch works"},
    Known{"configuration source", true, "",
          "the machine has no slurm.conf; set SLURM_CONF, or start this where sbatch works"},
};

// "sbatch: error: Batch job submission failed: Invalid ..." -> "Invalid ..."
std::string_view without_prefix(std::string_view line) {
  constexpr std::array<std::string_view, 9> kPrefixes = {"sbatch: ",
                                                         "squeue: ",
                                                         "scancel: ",
                                                         "error: ",
                                                         "fatal: ",
                                                         "slurm_load_jobs error: ",
                                                         "Batch job submission failed: ",
                                                         " ",
                                                         "\t"};
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view prefix : kPrefixes) {
      if (!line.starts_with(prefix)) continue;
      line.remove_prefix(prefix.size());
      more = true;
    }
  }
  return line;
}

}  // namespace

std::string slurm_complaint(const CommandEnd& end) {
  constexpr std::size_t kLongest = 600;
  if (!end.trouble.empty()) return end.trouble;
  std::string text;
  for (std::string_view left = end.errors; !left.empty() && text.size() < kLongest;) {
    const std::size_t length = std::min(left.find('\n'), left.size());
    const std::string_view line = without_prefix(left.substr(0, length));
    left.remove_prefix(std::min(length + 1, left.size()));
    if (!line.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", line);
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text.empty() ? to_text(end.status) : text;
}

BatchRefusal slurm_refusal(const CommandEnd& end) {
  const std::string complaint = slurm_complaint(end);
  BatchRefusal refusal;
  std::string_view cure;
  // If sbatch was killed, by us or by somebody else, the job may exist or not.
  refusal.permanent = end.trouble.empty() && end.status.signal == 0;
  if (refusal.permanent) {
    for (const Known& each : kKnown) {
      if (end.errors.find(each.text) == std::string::npos) continue;
      refusal.permanent = each.permanent;
      refusal.about = each.about;
      cure = each.cure;
      break;
    }
  }
  refusal.message = "Slurm does not take the job: " + complaint;
  refusal.tells_about = !refusal.about.empty() && refusal.permanent;
  if (refusal.tells_about) refusal.message += fmt::format("; change {}", refusal.about);
  if (!cure.empty()) refusal.message += fmt::format("; {}", cure);
  return refusal;
}

}  // namespace attune
