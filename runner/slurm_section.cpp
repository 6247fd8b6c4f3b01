#include "runner/slurm_section.h"

#include <fmt/format.h>

#include "base/host_port.h"

namespace attune {
namespace {

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

// Each machine of the cluster dials it.
Result<void> read_addresses(const Section& section, SlurmSection& result) {
  const auto listen = TRY(section.text("listen"));
  const auto advertise = TRY(section.text("advertise"));
  if (listen) {
    const auto parsed = parse_host_port(*listen);
    if (!parsed) return section.error("listen", parsed.error().message);
    if (is_any(parsed->host) && !advertise)
      return section.error("listen",
                           fmt::format("{} is no address that a node can dial; say in advertise "
                                       "how nodes know this host: HOST:PORT",
                                       parsed->host));
    result.listen = *listen;
  }
  if (advertise) {
    const auto parsed = parse_host_port(*advertise);
    if (!parsed) return section.error("advertise", parsed.error().message);
    if (!listen || parsed->port == 0 || is_any(parsed->host))
      return section.error("advertise",
                           "the host and port that nodes dial; give listen the same port, as in "
                           "listen: 0.0.0.0:7000, advertise: head:7000");
    result.advertise = *advertise;
  }
  return {};
}

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
  TRY(read_addresses(*section, result));
  return result;
}

}  // namespace attune
