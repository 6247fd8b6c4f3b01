#include "cluster/pool/backend/pool_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/trial_folder.h"
#include "base/saved_numbers.h"
#include "cluster/pool/backend/spool_rest.h"
#include "cluster/pool/backend/trial_task.h"
#include "cluster/pool/backend/worker_words.h"
#include "cluster/pool/roles.h"
#include "os/clock.h"

namespace attune {
namespace {

constexpr char kWaits[] = "waits for a worker";
constexpr char kAway[] = "waits for the coordinator, which cannot be reached: ";

}  // namespace

struct PoolBackend::Attempt {
  TrialStart start;
  std::string task;
  std::uint64_t order = 0;
  std::uint64_t position = 0;    // behind the newest report
  std::optional<Ending> wanted;  // stopped or paused
  // "stop", "pause" or "kill", for the coordinator, now or at the next connection; empty: none.
  std::string how;
  std::string cause;  // the newest cause that people were shown
  std::optional<TrialPlace> place, told_place;
  double place_known = 0;  // when `place` was set, on SystemClock::now(); its `ran` is as of then
  bool told = false;       // it was submitted or adopted, so the coordinator may know it
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
      dialer_(io, options_.dial, {kClientRole, options_.experiment_id}, rng,
              {[this] { return json{{"key", options_.key}}; },
               [this](std::unique_ptr<Connection> connection, const json&) {
                 connected(std::move(connection));
               },
               [this](DialState state, const std::string& reason) {
                 if (state == DialState::connecting) return;
                 if (options_.on_dialled) options_.on_dialled(state, reason);
                 if (state != DialState::connected) failed(reason);
               }}) {
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
  // From now on the first failure is told, too; see failed().
  failures_ = options_.quiet_failures;
  last_failure_.clear();
  for (const auto& [order, attempt] : attempts_) {
    if (!attempt->place->waits_for.empty()) place(*attempt, {{}, kWaits, 0});
  }
  options_.on_state("connected to the coordinator at " + connection_->peer());
  connection_->start({[this](const json& message) {
                        if (const auto done = heard(message); !done && connection_)
                          connection_->refuse("it says what cannot be understood: " +
                                              done.error().message);
                      },
                      [this](const std::string& reason) { lost(reason); },
                      {}});
  // Submits every attempt again, in order: the coordinator may have forgotten it. One that it knows
  // stays as it is.
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
  unreachable_ = "the connection is lost: " + reason;
  options_.on_state("the connection to the coordinator is lost: " + reason);
  dialer_.dial();
}

void PoolBackend::failed(const std::string& reason) {
  unreachable_ = reason;
  if (++failures_ <= options_.quiet_failures || reason == std::exchange(last_failure_, reason))
    return;
  options_.on_state("the coordinator cannot be reached: " + reason);
  for (const auto& [order, attempt] : attempts_) {
    if (!attempt->place->waits_for.empty()) place(*attempt, {{}, kAway + reason, 0});
  }
}

void PoolBackend::say(const json& message) {
  if (!connection_) return;
  if (const auto sent = connection_->send(message); !sent) options_.on_state(sent.error().message);
}

void PoolBackend::finish(bool shut_down) {
  over_ = true;
  for (const json& message : std::exchange(fetched_, {})) say(message);
  for (const std::string& task : strangers_) say({{"type", "forget"}, {"task", task}});
  if (shut_down) return say({{"type", "shutdown"}});
  if (connection_) connection_->close("its experiment is over");
}

// ---- starting and ending

Result<void> PoolBackend::start(const TrialStart& start) {
  TRY(take(start, 0, false));
  checkpoints_.cancel(start.job_id);
  return {};
}

Result<TrialBackend::Adoption> PoolBackend::adopt(const TrialStart& start, std::uint64_t position) {
  TRY(take(start, position, true));
  return Adoption::taken;
}

Result<void> PoolBackend::take(const TrialStart& start, std::uint64_t position, bool told) {
  if (by_job_.contains(start.job_id)) return fail("trial " + start.job_id + " runs already");
  auto attempt = std::make_unique<Attempt>();
  attempt->start = start;
  attempt->task = task_id_of(options_, start);
  attempt->order = started_++;
  attempt->position = position;
  attempt->told = told;
  by_job_[start.job_id] = by_task_[attempt->task] = attempt.get();
  strangers_.erase(attempt->task);
  submit(*attempt);
  place(*attempt, {{}, last_failure_.empty() ? kWaits : kAway + last_failure_, 0});
  attempts_[attempt->order] = std::move(attempt);
  return {};
}

void PoolBackend::submit(Attempt& attempt) {
  if (!connection_) return;
  attempt.told = true;
  say({{"type", "submit"}, {"task", to_json(task_of(options_, attempt.start))}});
}

void PoolBackend::cancel(Attempt& attempt, Ending wanted, const std::string& how) {
  if (attempt.ended) return;
  attempt.wanted = wanted;
  attempt.how = how;
  if (!attempt.told) return end(attempt, wanted, "it had not begun");
  say({{"type", "cancel"}, {"task", attempt.task}, {"how", how}});
}

void PoolBackend::stop(const std::string& job_id) {
  if (const auto found = by_job_.find(job_id); found != by_job_.end())
    cancel(*found->second, Ending::stopped, "stop");
}

void PoolBackend::pause(const std::string& job_id) {
  if (const auto found = by_job_.find(job_id); found != by_job_.end() && !found->second->wanted)
    cancel(*found->second, Ending::paused, "pause");
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

Result<void> PoolBackend::answer(const std::string& job_id, std::int64_t reports) {
  const auto found = by_job_.find(job_id);
  if (found == by_job_.end() || found->second->wanted) return {};
  const TrialFolder files = TRY(TrialFolder::open(folder(job_id)));
  return files.answer(reports);
}

void PoolBackend::save_checkpoint(const std::string& job_id, const std::string& checkpoint) {
  const bool good = is_checkpoint_id(job_id);
  checkpoints_.save(job_id, good ? CheckpointFolders(folder(job_id)).current : std::string(),
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
    checkpoints_.remove_folders(job_id, CheckpointFolders(folder(job_id)));
}

// ---- what the coordinator says

PoolBackend::Attempt* PoolBackend::find(const std::string& task) {
  const auto found = by_task_.find(task);
  return found == by_task_.end() || found->second->ended ? nullptr : found->second;
}

Result<void> PoolBackend::heard(const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "error") {  // it closes the connection
    options_.on_state("the coordinator says: " + TRY(text_at(message, "message")));
    return {};
  }
  if (type == "submitted" || type == "status") return {};
  const std::string task = TRY(text_at(message, "task"));
  Attempt* attempt = find(task);
  if (attempt == nullptr) {
    // The manager is about to adopt it, or a former manager stored its end but could not send
    // `forget`. finish() sends that.
    if (type == "finished" && !by_task_.contains(task)) strangers_.insert(task);
    return {};
  }
  if (type == "info") return take_info(*attempt, message);
  if (type == "state") {
    TRY(take_state(*attempt, message));
  } else if (type == "finished") {
    take_end(*attempt, message);
  } else if (type == "refused") {
    end(*attempt, Ending::failed,
        "the coordinator refuses it: " + TRY(text_at(message, "message")));
  }
  return {};
}

// Acknowledges also what it cannot parse: otherwise the worker would repeat that for ever.
Result<void> PoolBackend::take_info(Attempt& attempt, const json& message) {
  const std::int64_t seq = TRY(integer_at(message, "seq"));
  const json event = TRY(object_at(message, "event"));
  std::uint64_t position = 0;
  if (auto info = parse_worker_info(attempt.start.job_id, event); !info) {
    not_understood(attempt, info.error());
    read_spool(attempt, nullptr, false);  // it may have been a report
  } else {
    // A gap: the worker has not sent the reports between the two, because too much waited
    // (WorkerTasks::info), or they were acknowledged and this manager has not seen them. They are
    // in the spool.
    if (info->after > attempt.position) read_spool(attempt, nullptr, false);
    position = info->position;
    if (auto* report = std::get_if<TrialReport>(&info->event))
      report->late |= attempt.wanted.has_value();
    if (position == 0 || position > attempt.position) {
      attempt.position = std::max(attempt.position, position);
      add(attempt, std::move(info->event));
    }
  }
  to_say_.push_back(
      {{"type", "ack"}, {"task", attempt.task}, {"seq", seq}, {"position", position}});
  return {};
}

std::string PoolBackend::not_understood(Attempt& attempt, const Error& error) {
  std::string text = "its worker says what cannot be understood: " + error.message;
  add(attempt, TrialProblem{attempt.start.job_id, text});
  return text;
}

Result<void> PoolBackend::take_state(Attempt& attempt, const json& message) {
  const std::string cause = TRY(text_at(message, "cause"));
  if (TRY(text_at(message, "state")) == to_text(TaskState::queued)) {
    place(attempt, {{}, cause.empty() ? kWaits : fmt::format("{}: {}", kWaits, cause), 0});
  } else {
    place(attempt, TRY(parse_place(message)));
  }
  // For example, a worker that cannot run the task.
  if (!cause.empty() && !attempt.wanted && cause != std::exchange(attempt.cause, cause))
    add(attempt, TrialProblem{attempt.start.job_id, cause});
  return {};
}

// Only the place at the time of the next fetch is told, not those in between.
void PoolBackend::place(Attempt& attempt, TrialPlace where) {
  where.job_id = attempt.start.job_id;
  attempt.place = std::move(where);
  attempt.place_known = SystemClock().now();
  moved_.push_back(attempt.order);
  wake();
}

// Ends an attempt of whose end no worker has told anything.
void PoolBackend::end(Attempt& attempt, Ending how, const std::string& why) {
  attempt.ended = true;
  add(attempt, TrialFinished{.job_id = attempt.start.job_id, .how = how, .detail = why});
}

// Ends the attempt even if the message cannot be understood.
void PoolBackend::take_end(Attempt& attempt, const json& message) {
  attempt.ended = true;
  const std::string said = text_at(message, "report").value_or("");
  const std::string state = text_at(message, "state").value_or("");
  auto told = parse_worker_end(attempt.start.job_id, said);
  TrialFinished end;
  if (told) {
    end = std::move(told->finished);
    if (told->position > attempt.position || end.how == Ending::lost)
      read_spool(attempt, &end, true);
  } else {
    // There is no report if no worker has ended the task; one that cannot be parsed is worth as
    // much. Then only the spool can show how the attempt ended.
    const std::string text = said.empty() ? "" : not_understood(attempt, told.error());
    end.job_id = attempt.start.job_id;
    end.detail = text_at(message, "cause").value_or("");
    if (end.detail.empty()) end.detail = text;
    end.how = state == to_text(TaskState::failed) && said.empty() ? Ending::failed : Ending::lost;
    if (attempt.wanted && state == "cancelled") end.how = *attempt.wanted;
    read_spool(attempt, end.how == Ending::lost ? &end : nullptr, true);
  }
  if (end.how == Ending::stopped && !attempt.wanted) {  // by the coordinator, not by this manager
    end.how = state == to_text(TaskState::failed) ? Ending::failed : Ending::lost;
    end.detail = text_at(message, "cause").value_or("");
    end.with_grace = true;
  }
  add(attempt, std::move(end));
  to_say_.push_back({{"type", "forget"}, {"task", attempt.task}});
}

void PoolBackend::read_spool(Attempt& attempt, TrialFinished* end, bool ended) {
  const KnownAttempt known{folder(attempt.start.job_id), attempt.start, attempt.position,
                           attempt.wanted};
  for (TrialEvent& event : read_rest(known, options_.report, ended, end)) {
    if (const auto* report = std::get_if<TrialReport>(&event)) attempt.position = report->position;
    add(attempt, std::move(event));
  }
}

// ---- the owner

void PoolBackend::add(Attempt& attempt, TrialEvent event) {
  if (auto* end = std::get_if<TrialFinished>(&event)) {
    if (end->time == 0) end->time = SystemClock().wall();  // nobody saw it end, so it ends now
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

// The owner stores the events of a fetch before it fetches again. Only now may the worker and the
// coordinator forget those of the last fetch.
std::vector<TrialEvent> PoolBackend::fetch_status_results() {
  for (const json& message : std::exchange(fetched_, {})) say(message);
  fetched_ = std::exchange(to_say_, {});
  if (!fetched_.empty()) wake();
  std::vector<TrialEvent> events;
  const double now = SystemClock().now();
  for (const std::uint64_t order : std::exchange(moved_, {})) {
    const auto found = attempts_.find(order);
    if (found == attempts_.end()) continue;
    Attempt& attempt = *found->second;
    if (attempt.told_place == attempt.place) continue;
    attempt.told_place = attempt.place;
    TrialPlace place = *attempt.place;
    if (place.waits_for.empty()) place.ran += now - attempt.place_known;
    events.emplace_back(std::move(place));
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

}  // namespace attune
