#include "coordinator/pool/pool_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/final_result.h"
#include "backends/spool_reader.h"
#include "backends/trial_folder.h"
#include "backends/trial_inputs.h"
#include "base/saved_numbers.h"
#include "coordinator/trial_event.h"

namespace attune {
namespace {

constexpr char kWaits[] = "waits for a worker";
constexpr std::size_t kBuffer = std::size_t{256} << 10;

double at_least(double wanted, double least) { return std::max(wanted, least); }

}  // namespace

struct PoolBackend::Attempt {
  TrialStart start;
  std::string task;
  std::uint64_t order = 0;
  std::uint64_t position = 0;    // behind the newest report
  std::optional<Ending> wanted;  // stopped or paused
  std::string how;               // that the coordinator was told
  std::string cause;             // the newest that was shown
  std::optional<TrialPlace> place, told_place;
  bool ended = false;
};

PoolBackend::PoolBackend(boost::asio::io_context& io, PoolBackendOptions options, const Rng& rng,
                         std::function<void()> wake)
    : io_(io),
      options_(std::move(options)),
      wake_(std::move(wake)),
      checkpoints_(io,
                   [this](CheckpointStored saved) {
                     events_.emplace_back(std::move(saved));
                     this->wake();
                   }),
      dialer_(io, options_.dial, rng,
              {[this] { return json{{"role", "client"}, {"client", options_.experiment_id}}; },
               [this](std::unique_ptr<Connection> connection, const json&) {
                 connected(std::move(connection));
               },
               [this](DialState state, const std::string& reason) {
                 const bool failed = state == DialState::waiting || state == DialState::refused;
                 if (failed && options_.on_unreachable) options_.on_unreachable();
                 if (failed && ++failures_ > options_.quiet_failures &&
                     reason != std::exchange(last_failure_, reason))
                   options_.on_state(reason);
               }}),
      buffer_(kBuffer) {
  dialer_.dial();
}

PoolBackend::~PoolBackend() = default;

void PoolBackend::set_path(const std::filesystem::path& directory) {
  path_ = directory;
  checkpoints_.set_path(path_ / "checkpoints");
}

// ---- the connection

void PoolBackend::connected(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  failures_ = options_.quiet_failures;
  last_failure_.clear();
  options_.on_state("connected to the coordinator at " + connection_->peer());
  connection_->start({[this](const json& message) {
                        if (const auto done = heard(message); !done)
                          options_.on_state("the coordinator says what cannot be understood: " +
                                            done.error().message);
                      },
                      [this](const std::string& reason) { lost(reason); },
                      {}});
  // It may have heard of them before, and may have forgotten them: all in their order.
  for (const auto& [order, attempt] : attempts_) {
    if (attempt->ended) continue;
    submit(*attempt);
    if (!attempt->how.empty())
      say({{"type", "cancel"}, {"task", attempt->task}, {"how", attempt->how}});
  }
}

void PoolBackend::lost(const std::string& reason) {
  connection_.reset();
  if (over_) return;
  options_.on_state("the connection to the coordinator is lost: " + reason);
  dialer_.dial();
}

void PoolBackend::say(const json& message) {
  if (!connection_) return;
  if (const auto sent = connection_->send(message); !sent) options_.on_state(sent.error().message);
}

void PoolBackend::finish(bool shut_down) {
  over_ = true;
  for (const json& message : std::exchange(fetched_, {})) say(message);
  for (const std::string& task : strangers_) say({{"type", "forget"}, {"task", task}});
  if (shut_down) say({{"type", "shutdown"}});
}

// ---- starting and ending

Result<void> PoolBackend::start(const TrialStart& start) {
  TRY(adopt(start, 0));
  checkpoints_.cancel(start.job_id);
  return {};
}

Result<TrialBackend::Adoption> PoolBackend::adopt(const TrialStart& start, std::uint64_t position) {
  if (by_job_.contains(start.job_id)) return fail("trial " + start.job_id + " runs already");
  auto attempt = std::make_unique<Attempt>();
  attempt->start = start;
  attempt->task = fmt::format("{}-{}-{}", options_.experiment_id, start.job_id, start.attempt);
  attempt->order = started_++;
  attempt->position = position;
  by_job_[start.job_id] = by_task_[attempt->task] = attempt.get();
  strangers_.erase(attempt->task);
  submit(*attempt);
  place(*attempt, kWaits, 0);
  attempts_[attempt->order] = std::move(attempt);
  return Adoption::taken;
}

void PoolBackend::submit(const Attempt& attempt) {
  const TrialStart& start = attempt.start;
  TaskSpec spec;
  spec.id = attempt.task;
  spec.kind = "trial";
  spec.needs = start.resources;
  spec.needs.cpu = at_least(spec.needs.cpu, options_.least.cpu);
  spec.needs.memory = at_least(spec.needs.memory, options_.least.memory);
  spec.labels = options_.labels;
  if (options_.worker_per_task) spec.worker = spec.id;
  if (options_.queue_limit > 0) spec.limits.queue = options_.queue_limit;
  json program = {{"experiment", options_.experiment_file.string()},
                  {"job", start.job_id},
                  {"sequence", start.sequence},
                  {"attempt", start.attempt},
                  {"parameters", start.parameter_text},
                  {"resources", to_json(start.resources)}};
  if (!start.checkpoint.empty()) program["checkpoint"] = start.checkpoint;
  spec.program = dump_json(program);
  say({{"type", "submit"}, {"task", to_json(spec)}});
}

void PoolBackend::cancel(Attempt& attempt, Ending wanted, const std::string& how) {
  if (attempt.ended) return;
  attempt.wanted = wanted;
  attempt.how = how;
  say({{"type", "cancel"}, {"task", attempt.task}, {"how", how}});
}

void PoolBackend::stop(const std::string& job_id) {
  const auto found = by_job_.find(job_id);
  if (found != by_job_.end()) cancel(*found->second, Ending::stopped, "stop");
}

void PoolBackend::pause(const std::string& job_id) {
  const auto found = by_job_.find(job_id);
  if (found != by_job_.end() && !found->second->wanted)
    cancel(*found->second, Ending::paused, "pause");
}

void PoolBackend::stop_all() {
  for (const auto& [order, attempt] : attempts_) cancel(*attempt, Ending::stopped, "stop");
}

void PoolBackend::kill_all() {
  for (const auto& [order, attempt] : attempts_)
    cancel(*attempt, attempt->wanted.value_or(Ending::stopped), "kill");
}

// ---- files

Result<void> PoolBackend::give_parameter(const std::string& job_id, std::int64_t index,
                                         const std::string& text) {
  if (!is_checkpoint_id(job_id)) return fail("a job id consists of letters and digits");
  const TrialFolder files = TRY(TrialFolder::open(folder(job_id)));
  return files.write(fmt::format("parameter_{}.cfg", index), text);
}

void PoolBackend::save_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  const bool good = is_checkpoint_id(job_id);
  checkpoints_.save(job_id, good ? folder(job_id) / "checkpoint" : std::filesystem::path(),
                    checkpoint);
}

void PoolBackend::copy_checkpoint(const std::string& from, const std::string& to) {
  checkpoints_.copy(from, to);
}

void PoolBackend::delete_checkpoint(const std::string& checkpoint) {
  checkpoints_.remove(checkpoint);
}

void PoolBackend::release(const std::string& job_id) {
  if (is_checkpoint_id(job_id) && !by_job_.contains(job_id))
    checkpoints_.remove_folder(job_id, folder(job_id) / "checkpoint");
}

// ---- what the coordinator says

PoolBackend::Attempt* PoolBackend::find(const std::string& task) {
  const auto found = by_task_.find(task);
  return found == by_task_.end() || found->second->ended ? nullptr : found->second;
}

Result<void> PoolBackend::heard(const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "error") return fail(TRY(text_at(message, "message")));
  if (type == "submitted" || type == "status") return {};
  const std::string task = TRY(text_at(message, "task"));
  Attempt* attempt = find(task);
  if (attempt == nullptr) {
    // It is about to be adopted, or a former manager has had its end and could not say so.
    if (type == "finished" && !by_task_.contains(task)) strangers_.insert(task);
    return {};
  }
  if (type == "info") return take_info(*attempt, message);
  if (type == "state") {
    TRY(take_state(*attempt, message));
  } else if (type == "finished") {
    take_end(*attempt, message);
  } else if (type == "refused") {
    refused(*attempt, TRY(text_at(message, "message")));
  }
  return {};
}

Result<void> PoolBackend::take_info(Attempt& attempt, const json& message) {
  const json object = TRY(object_at(message, "event"));
  TrialEvent event = TRY(parse_trial_event(attempt.start.job_id, object));
  // Somebody has acknowledged what this manager does not know.
  if (object.value("after", std::uint64_t{0}) > attempt.position)
    read_rest(attempt, nullptr, false);
  std::uint64_t position = 0;
  if (auto* report = std::get_if<TrialReport>(&event)) {
    position = report->position;
    report->late |= attempt.wanted.has_value();
  }
  if (position == 0 || position > attempt.position) {
    attempt.position = std::max(attempt.position, position);
    add(attempt, std::move(event));
  }
  to_say_.push_back({{"type", "ack"},
                     {"task", attempt.task},
                     {"seq", TRY(integer_at(message, "seq"))},
                     {"position", position}});
  return {};
}

Result<void> PoolBackend::take_state(Attempt& attempt, const json& message) {
  const std::string cause = TRY(text_at(message, "cause"));
  if (TRY(text_at(message, "state")) == to_text(TaskState::queued)) {
    place(attempt, cause.empty() ? kWaits : fmt::format("{}: {}", kWaits, cause), 0);
  } else {
    place(attempt, "", TRY(number_at(message, "since")));
  }
  // Such as a worker that cannot run it.
  if (!cause.empty() && !attempt.wanted && cause != std::exchange(attempt.cause, cause))
    add(attempt, TrialProblem{attempt.start.job_id, cause});
  return {};
}

// Told when it is fetched, which may be after the next change.
void PoolBackend::place(Attempt& attempt, std::string waits_for, double since) {
  attempt.place = TrialPlace{attempt.start.job_id, std::move(waits_for), since};
  moved_.push_back(attempt.order);
  wake();
}

void PoolBackend::refused(Attempt& attempt, const std::string& why) {
  attempt.ended = true;
  add(attempt, TrialFinished{.job_id = attempt.start.job_id,
                             .how = Ending::failed,
                             .detail = "the coordinator refuses it: " + why});
}

void PoolBackend::take_end(Attempt& attempt, const json& message) {
  attempt.ended = true;
  const json report = parse_json(message.value("report", "")).value_or(json());
  TrialFinished end;
  if (auto told = parse_trial_event(attempt.start.job_id, report);
      told && std::holds_alternative<TrialFinished>(*told)) {
    end = std::get<TrialFinished>(*std::move(told));
    if (report.value("position", std::uint64_t{0}) > attempt.position)
      read_rest(attempt, &end, true);
  } else {
    const std::string state = message.value("state", "");
    end.job_id = attempt.start.job_id;
    end.detail = message.value("cause", "");
    end.how = state == "lost" ? Ending::lost : Ending::failed;
    if (attempt.wanted && state == "cancelled") end.how = *attempt.wanted;
    read_rest(attempt, nullptr, true);
  }
  add(attempt, std::move(end));
  to_say_.push_back({{"type", "forget"}, {"task", attempt.task}});
}

// What did not come over the connection. `end`: of an attempt that came to an end.
void PoolBackend::read_rest(Attempt& attempt, TrialFinished* end, bool ended) {
  const std::string& job = attempt.start.job_id;
  const auto files = TrialFolder::open(folder(job));
  if (!files) return;
  auto spool = files->open_spool(attempt.start.attempt);
  if (!spool || !*spool) return;
  SpoolReader reader(job, *std::move(spool), attempt.position,
                     parameter_id_of(attempt.start.parameter_text), options_.report.objective);
  std::vector<TrialEvent> events;
  const bool late = attempt.wanted.has_value();
  while (reader.read(buffer_, late, events)) continue;
  if (ended) reader.finish(late, events);
  if (end != nullptr) {
    if (auto last = final_result(options_.report, reader, folder(job), *end))
      events.push_back(*std::move(last));
  }
  for (TrialEvent& event : events) {
    if (const auto* report = std::get_if<TrialReport>(&event)) attempt.position = report->position;
    add(attempt, std::move(event));
  }
}

// ---- the owner

void PoolBackend::add(Attempt& attempt, TrialEvent event) {
  if (std::holds_alternative<TrialFinished>(event)) {
    by_job_.erase(attempt.start.job_id);
    ended_.push_back(attempt.order);
  }
  events_.push_back(std::move(event));
  wake();
}

void PoolBackend::wake() {
  if (std::exchange(wake_posted_, true)) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    wake_posted_ = false;
    wake_();
  });
}

// Who fetches again has stored what it fetched before: only now may the others forget it.
std::vector<TrialEvent> PoolBackend::fetch_status_results() {
  for (const json& message : std::exchange(fetched_, {})) say(message);
  fetched_ = std::exchange(to_say_, {});
  if (!fetched_.empty()) wake();
  std::vector<TrialEvent> events;
  for (const std::uint64_t order : std::exchange(moved_, {})) {
    const auto found = attempts_.find(order);
    if (found == attempts_.end()) continue;
    Attempt& attempt = *found->second;
    const bool same =
        attempt.told_place && attempt.told_place->waits_for == attempt.place->waits_for;
    if (same && attempt.told_place->since == attempt.place->since) continue;
    attempt.told_place = attempt.place;
    events.emplace_back(*attempt.place);
  }
  events.insert(events.end(), std::make_move_iterator(events_.begin()),
                std::make_move_iterator(events_.end()));
  events_.clear();
  for (const std::uint64_t order : std::exchange(ended_, {})) {
    by_task_.erase(attempts_.at(order)->task);
    attempts_.erase(order);
  }
  return events;
}

std::vector<std::pair<std::string, BusyStatus>> PoolBackend::busy_trial_ids() const {
  std::vector<std::pair<std::string, BusyStatus>> ids;
  for (const auto& [order, attempt] : attempts_) {
    ids.emplace_back(attempt->start.job_id,
                     attempt->wanted ? BusyStatus::stopping : BusyStatus::running);
  }
  return ids;
}

}  // namespace attune
