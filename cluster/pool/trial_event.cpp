#include "cluster/pool/trial_event.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "backends/ending_text.h"
#include "base/overloaded.h"
#include "base/saved_numbers.h"
#include "protocol/codec.h"

namespace attune {
namespace {

Result<Ending> parse_ending(std::string_view text) {
  const auto ending = ending_of(text);
  if (!ending) return fail(fmt::format("how: \"{}\" is no end of a trial", text));
  return *ending;
}

bool flag_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

// Seconds; null or missing: unknown.
Result<std::optional<double>> ran_at(const json& object) {
  const auto found = object.find("ran");
  if (found == object.end() || found->is_null()) return std::nullopt;
  const double ran = TRY(number_at(object, "ran"));
  if (ran < 0) return fail("ran: it is no length of time");
  return ran;
}

json to_json(const std::optional<double>& ran) { return ran ? json(*ran) : json(); }

Result<ReportMetricData> parse_metric(const std::string& job_id, const std::string& text) {
  // The worker sends what the trial has written, so this process must check it itself.
  Command command = TRY(decode(Frame{"ME", text}));
  auto* metric = std::get_if<ReportMetricData>(&command);
  if (metric == nullptr || metric->trial_job_id != job_id)
    return fail("text: it is no metric of this trial");
  return std::move(*metric);
}

Result<TrialEvent> parse_report(const std::string& job_id, const json& object) {
  TrialReport report;
  report.job_id = job_id;
  report.text = TRY(text_at(object, "text"));
  report.metric = TRY(parse_metric(job_id, report.text));
  report.time = TRY(number_at(object, "time"));
  const std::int64_t position = TRY(integer_at(object, "position"));
  if (position < 0) return fail("position: it is negative");
  report.position = static_cast<std::uint64_t>(position);
  report.late = flag_at(object, "late");
  report.ran = TRY(ran_at(object));
  return report;
}

Result<TrialEvent> parse_stored(const std::string& job_id, const json& object) {
  CheckpointStored stored;
  stored.job_id = job_id;
  stored.checkpoint = TRY(text_at(object, "checkpoint"));
  stored.bytes = TRY(number_at(object, "bytes"));
  stored.error = TRY(text_at(object, "error"));
  stored.no_room = flag_at(object, "no_room");
  return stored;
}

Result<TrialEvent> parse_finished(const std::string& job_id, const json& object) {
  TrialFinished finished;
  finished.job_id = job_id;
  finished.how = TRY(parse_ending(TRY(text_at(object, "how"))));
  finished.detail = TRY(text_at(object, "detail"));
  finished.time = TRY(number_at(object, "time"));
  finished.cpu_seconds = TRY(number_at(object, "cpu_seconds"));
  finished.max_rss = TRY(number_at(object, "max_rss"));
  finished.with_grace = flag_at(object, "with_grace");
  finished.ran = TRY(ran_at(object));
  return finished;
}

}  // namespace

TaskState state_of(Ending ending) {
  switch (ending) {
    case Ending::succeeded:
      return TaskState::succeeded;
    case Ending::stopped:
    case Ending::paused:
      return TaskState::cancelled;
    case Ending::lost:
      return TaskState::lost;
    default:
      return TaskState::failed;
  }
}

json to_json(const TrialEvent& event) {
  return std::visit(
      Overloaded{[](const TrialReport& report) -> json {
                   return {{"event", "report"},   {"text", report.text},
                           {"time", report.time}, {"position", report.position},
                           {"late", report.late}, {"ran", to_json(report.ran)}};
                 },
                 [](const TrialProblem& problem) -> json {
                   return {{"event", "problem"}, {"text", problem.text}};
                 },
                 [](const TrialPlace& place) -> json {
                   return {{"event", "place"}, {"waits_for", place.waits_for}, {"ran", place.ran}};
                 },
                 [](const CheckpointStored& stored) -> json {
                   return {{"event", "checkpoint"},
                           {"checkpoint", stored.checkpoint},
                           {"bytes", stored.bytes},
                           {"error", stored.error},
                           {"no_room", stored.no_room}};
                 },
                 [](const TrialFinished& finished) -> json {
                   return {{"event", "finished"},
                           {"how", to_text(finished.how)},
                           {"detail", finished.detail},
                           {"time", finished.time},
                           {"cpu_seconds", finished.cpu_seconds},
                           {"max_rss", finished.max_rss},
                           {"with_grace", finished.with_grace},
                           {"ran", to_json(finished.ran)}};
                 }},
      event);
}

Result<TrialEvent> parse_trial_event(const std::string& job_id, const json& object) {
  const std::string event = TRY(text_at(object, "event"));
  if (event == "report") return parse_report(job_id, object);
  if (event == "checkpoint") return parse_stored(job_id, object);
  if (event == "finished") return parse_finished(job_id, object);
  if (event == "problem") {
    std::string text = TRY(text_at(object, "text"));
    return TrialProblem{job_id, std::move(text)};
  }
  if (event == "place") {
    std::string waits_for = TRY(text_at(object, "waits_for"));
    return TrialPlace{job_id, std::move(waits_for), TRY(number_at(object, "ran"))};
  }
  return fail(fmt::format("event: \"{}\" is none", event));
}

json with_value(const json& event) {
  // In the order of ReportMetricData::Type.
  constexpr std::array kTypes = {"PERIODICAL", "FINAL", "REQUEST_PARAMETER"};
  const auto text = text_at(event, "text");
  if (!text || event.value("event", json()) != "report") return event;
  const auto command = decode(Frame{"ME", *text});
  if (!command || !std::holds_alternative<ReportMetricData>(*command)) return event;
  const auto& metric = std::get<ReportMetricData>(*command);
  return {{"event", "report"},
          {"type", kTypes[static_cast<std::size_t>(metric.type)]},
          {"sequence", metric.sequence},
          {"value", metric.value}};
}

}  // namespace attune
