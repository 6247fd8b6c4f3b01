#include "runner/slurm_section.h"

#include <fmt/format.h>

#include "coordinator/operators/slurm_operator.h"
#include "runner/listen_address.h"

namespace attune {
namespace {

Result<void> read_pilot(const Section& section, SlurmSettings::Pilot& pilot) {
  TRY(section.check_keys({"cpu", "gpu", "memory", "idle"}));
  pilot.capacity.cpu = TRY(section.number("cpu", 0)).value_or(0);
  pilot.capacity.gpu = TRY(section.number("gpu", 0)).value_or(0);
  pilot.capacity.memory = TRY(section.bytes("memory")).value_or(0);
  pilot.idle = TRY(section.duration("idle")).value_or(pilot.idle);
  return {};
}

}  // namespace

Result<SlurmSection> read_slurm_section(const std::optional<Section>& section) {
  SlurmSection result;
  if (!section) return result;
  TRY(section->check_keys({"mode", "partition", "account", "qos", "timeLimit", "gres", "arguments",
                           "signalBefore", "startWithin", "poll", "maxJobs", "pilot", "listen",
                           "advertise"}));
  SlurmSettings& settings = result.settings;
  const std::string mode = TRY(section->text("mode")).value_or("jobs");
  if (mode != "jobs" && mode != "pilots")
    return section->error("mode", fmt::format("\"{}\" is none of jobs, pilots", mode));
  settings.mode = mode == "jobs" ? SlurmSettings::Mode::jobs : SlurmSettings::Mode::pilots;
  settings.partition = TRY(section->text("partition")).value_or("");
  settings.account = TRY(section->text("account")).value_or("");
  settings.qos = TRY(section->text("qos")).value_or("");
  settings.gres = TRY(section->text("gres")).value_or("");
  settings.arguments = TRY(section->texts("arguments"));
  settings.time_limit = TRY(section->duration("timeLimit")).value_or(settings.time_limit);
  const auto before = TRY(section->duration("signalBefore"));
  settings.signal_before = before.value_or(settings.signal_before);
  if (before && *before >= settings.time_limit)
    return section->error("signalBefore", "it must be less than timeLimit");
  settings.start_within = TRY(section->duration("startWithin")).value_or(settings.start_within);
  if (settings.start_within <= 0)
    return section->error("startWithin", "some seconds at least are wanted");
  settings.poll = TRY(section->duration("poll")).value_or(settings.poll);
  settings.most_jobs =
      static_cast<int>(TRY(section->integer("maxJobs", 1, 1'000'000)).value_or(settings.most_jobs));
  if (const auto pilot = TRY(section->section("pilot"))) {
    if (mode != "pilots") return section->error("pilot", "it is for mode: pilots");
    TRY(read_pilot(*pilot, settings.pilot));
  }
  const ListenAddress address = TRY(read_listen_address(*section));
  result.listen = address.listen;
  result.advertise = address.advertise;
  return result;
}

Result<void> check_slurm_jobs(const Section& top, const SlurmSettings& settings,
                              const Resources& needs) {
  const auto refusal = impossible(settings, needs);
  if (!refusal) return {};
  const std::string about = refusal->about;
  const std::size_t point = about.find('.');
  const auto section = TRY(top.section(point == std::string::npos ? "slurm" : "resources"));
  if (!section) return top.error("slurm", fmt::format("{}: {}", about, refusal->message));
  return section->error(point == std::string::npos ? about : about.substr(point + 1),
                        refusal->message);
}

}  // namespace attune
