#include "cluster/batch/slurm_settings.h"

#include <fmt/format.h>

#include <cmath>

#include "base/saved_numbers.h"
#include "cluster/pool/task.h"

namespace attune {
namespace {

Result<double> seconds_at(const json& object, std::string_view key) {
  const double seconds = TRY(number_at(object, key));
  if (!(seconds >= 0)) return fail(fmt::format("{}: seconds are wanted", key));
  return seconds;
}

}  // namespace

std::string_view to_text(SlurmSettings::Mode mode) {
  return mode == SlurmSettings::Mode::jobs ? "jobs" : "pilots";
}

json to_json(const SlurmSettings& settings) {
  json object = {{"mode", to_text(settings.mode)},
                 {"partition", settings.partition},
                 {"account", settings.account},
                 {"qos", settings.qos},
                 {"gres", settings.gres},
                 {"arguments", settings.arguments},
                 {"signal_before", settings.signal_before},
                 {"start_within", settings.start_within},
                 {"poll", settings.poll},
                 {"most_jobs", settings.most_jobs},
                 {"pilot", to_json(settings.pilot.capacity)},
                 {"idle", settings.pilot.idle},
                 {"prefix", settings.prefix}};
  if (std::isfinite(settings.time_limit)) object["time_limit"] = settings.time_limit;
  return object;
}

Result<SlurmSettings> parse_slurm_settings(const json& object) {
  SlurmSettings settings;
  const std::string mode = TRY(text_at(object, "mode"));
  if (mode != "jobs" && mode != "pilots")
    return fail(fmt::format("mode: jobs or pilots is wanted, not \"{}\"", mode));
  settings.mode = mode == "jobs" ? SlurmSettings::Mode::jobs : SlurmSettings::Mode::pilots;
  settings.partition = TRY(text_at(object, "partition"));
  settings.account = TRY(text_at(object, "account"));
  settings.qos = TRY(text_at(object, "qos"));
  settings.gres = TRY(text_at(object, "gres"));
  for (const json& each : TRY(array_at(object, "arguments"))) {
    if (!each.is_string()) return fail("arguments: texts are wanted in it");
    settings.arguments.push_back(each.get<std::string>());
  }
  if (object.contains("time_limit")) settings.time_limit = TRY(seconds_at(object, "time_limit"));
  settings.signal_before = TRY(seconds_at(object, "signal_before"));
  settings.start_within = TRY(seconds_at(object, "start_within"));
  settings.poll = TRY(seconds_at(object, "poll"));
  if (settings.poll <= 0) return fail("poll: more than 0 is wanted");
  if (settings.start_within <= 0) return fail("start_within: more than 0 is wanted");
  const std::int64_t most = TRY(integer_at(object, "most_jobs"));
  if (most < 1 || most > 1'000'000) return fail("most_jobs: 1 to 1000000 is wanted");
  settings.most_jobs = static_cast<int>(most);
  settings.pilot.capacity = TRY(parse_resources(TRY(object_at(object, "pilot"))));
  settings.pilot.idle = TRY(seconds_at(object, "idle"));
  settings.prefix = TRY(text_at(object, "prefix"));
  if (settings.prefix.empty()) return fail("prefix: jobs need one, or others' would be cancelled");
  return settings;
}

}  // namespace attune
