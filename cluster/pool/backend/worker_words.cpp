#include "cluster/pool/backend/worker_words.h"

#include <fmt/format.h>

#include <utility>

#include "base/names.h"
#include "base/saved_numbers.h"
#include "cluster/pool/fields.h"
#include "cluster/pool/trial_event.h"

namespace attune {
namespace {

// 0 if `object` has no such member.
Result<std::uint64_t> position_at(const json& object, const char* key) {
  if (!object.contains(key)) return 0;
  const std::int64_t position = TRY(integer_at(object, key));
  if (position < 0) return fail(fmt::format("{}: it is negative", key));
  return static_cast<std::uint64_t>(position);
}

}  // namespace

Result<WorkerInfo> parse_worker_info(const std::string& job_id, const json& event) {
  WorkerInfo info{TRY(parse_trial_event(job_id, event))};
  info.after = TRY(position_at(event, "after"));
  if (const auto* report = std::get_if<TrialReport>(&info.event)) {
    info.position = report->position;
  } else if (!std::holds_alternative<TrialProblem>(info.event)) {
    // The end comes in a message of its own; an end here would be a second one.
    return fail("event: a report or a problem is wanted, not " + TRY(text_at(event, "event")));
  }
  return info;
}

Result<TrialPlace> parse_place(const json& message) {
  TrialPlace place;
  place.ran = TRY(number_at(message, "seconds"));
  if (place.ran < 0) return fail("seconds: it is no length of time");
  place.worker = TRY(name_at(message, "worker"));
  if (message.contains("host")) {
    place.host = TRY(text_at(message, "host"));
    TRY(check_printable("host", place.host));
  }
  return place;
}

Result<WorkerEnd> parse_worker_end(const std::string& job_id, const std::string& report) {
  const json object = TRY(parse_json(report));
  TrialEvent event = TRY(parse_trial_event(job_id, object));
  if (!std::holds_alternative<TrialFinished>(event)) return fail("event: finished is wanted");
  WorkerEnd end{std::get<TrialFinished>(std::move(event))};
  end.position = TRY(position_at(object, "position"));
  return end;
}

}  // namespace attune
