#include "manager/experiment/slurm_section.h"

#include <fmt/format.h>

#include "cluster/batch/slurm_operator.h"
#include "manager/experiment/listen_address.h"

namespace attune {
namespace {

void read_pilot(const Section& section, SlurmSettings::Pilot& pilot) {
  section.check_keys({"cpu", "gpu", "memory", "idle"});
  pilot.capacity.cpu = section.number("cpu", 0).value_or(0);
  pilot.capacity.gpu = section.number("gpu", 0).value_or(0);
  pilot.capacity.memory = section.bytes("memory").value_or(0);
  pilot.idle = section.duration("idle").value_or(pilot.idle);
}

}  // namespace

SlurmSection read_slurm_section(const std::optional<Section>& section) {
  SlurmSection result;
  if (!section) return result;
  section->check_keys({"mode", "partition", "account", "qos", "timeLimit", "gres", "arguments",
                       "signalBefore", "startWithin", "poll", "maxJobs", "pilot", "listen",
                       "advertise"});
  SlurmSettings& settings = result.settings;
  const std::string mode = section->choice("mode", {"jobs", "pilots"});
  settings.mode = mode == "jobs" ? SlurmSettings::Mode::jobs : SlurmSettings::Mode::pilots;
  settings.partition = section->text("partition").value_or("");
  settings.account = section->text("account").value_or("");
  settings.qos = section->text("qos").value_or("");
  settings.gres = section->text("gres").value_or("");
  settings.arguments = section->texts("arguments");
  settings.time_limit = section->duration("timeLimit").value_or(settings.time_limit);
  const auto before = section->duration("signalBefore");
  settings.signal_before = before.value_or(settings.signal_before);
  if (before && *before >= settings.time_limit && !section->wrong("timeLimit"))
    section->error("signalBefore", "it must be less than timeLimit");
  settings.start_within = section->duration("startWithin").value_or(settings.start_within);
  settings.poll = section->duration("poll").value_or(settings.poll);
  settings.most_jobs =
      static_cast<int>(section->integer("maxJobs", 1, 1'000'000).value_or(settings.most_jobs));
  if (const auto pilot = section->section("pilot")) {
    if (mode != "pilots" && !section->wrong("mode"))
      section->error("pilot", "it is for mode: pilots");
    read_pilot(*pilot, settings.pilot);
  }
  const ListenAddress address = read_listen_address(*section);
  result.listen = address.listen;
  result.advertise = address.advertise;
  return result;
}

void check_slurm_jobs(const Section& top, const SlurmSettings& settings, const Resources& needs) {
  const auto flaw = impossible(settings, needs);
  if (!flaw) return;
  const std::string about = flaw->about;
  const std::size_t point = about.find('.');
  const auto section = top.section(point == std::string::npos ? "slurm" : "resources");
  if (!section) return top.error("slurm", fmt::format("{}: {}", about, flaw->why));
  section->error(point == std::string::npos ? about : about.substr(point + 1), flaw->why);
}

}  // namespace attune
