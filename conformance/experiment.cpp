#include "conformance/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "space/sample.h"
#include "space/saved_point.h"

namespace attune::conformance {
namespace {

// The metrics of the objectives behind the first. Some are missing, or no numbers.
void add_others(const TunerSubject& subject, Metrics& metrics, Rng& rng) {
  for (std::size_t k = 1; k < subject.objectives.size(); ++k) {
    if (rng.index(20) == 0) continue;
    const double value = rng.index(20) == 0 ? NAN : rng.normal();
    metrics.emplace_back(subject.objectives[k].metric, value);
  }
}

Outcome ended(TrialId id, const Point& point, Rng& rng) {
  Outcome outcome = {id, point, rng.normal(), {{"default", 1}}, End::completed, {}};
  switch (rng.index(12)) {
    case 0:
      outcome.end = End::failed;
      break;
    case 1:
      outcome.end = End::diverged;
      break;
    case 2:
      outcome.end = End::stopped;
      break;
    case 3:
      outcome.loss = 1e308;
      return outcome;
    case 4:
      outcome.loss = -1e308;
      return outcome;
    case 5:
      outcome.loss = 0;
      return outcome;  // ties
    default:
      return outcome;
  }
  outcome.loss.reset();
  if (outcome.end == End::diverged) outcome.metrics = {{"default", NAN}};
  return outcome;
}

}  // namespace

Experiment::Experiment(const TunerSubject& subject, const Space& space, Findings& findings,
                       std::uint64_t seed)
    : subject_(&subject),
      space_(&space),
      findings_(&findings),
      tuner_(subject.make(findings, seed)),
      wants_reports_(subject.entry.wants_reports || tuner_->wants_reports()) {
  const auto set = tuner_->set_space(space);
  findings.require(set.has_value(), "that it accepts the space again",
                   [&] { return set.error().message; });
}

std::vector<std::string> Experiment::learn_from(std::span<const EarlierTask> tasks) {
  earlier_ = tasks;
  std::vector<std::string> texts;
  for (const Point& start : tuner_->learn_from(tasks)) {
    const TrialId id = next_id_++;
    texts.push_back(checked(id, Proposal{.point = start}));
    findings_->expect(space_->feasible(start), "a first trial that keeps all constraints",
                      [&] { return texts.back(); });
    tuner_->adopt(id, start);
  }
  return texts;
}

Experiment Experiment::restored() const {
  // Another seed: whatever shapes the answers must be in the state.
  Experiment copy(*subject_, *space_, *findings_, 999);
  copy.earlier_ = earlier_;
  if (!earlier_.empty()) copy.tuner_->learn_from(earlier_);
  const std::string text = saved(*tuner_);
  const auto state = parse_json(text);
  findings_->require(state.has_value(), "a state that is JSON",
                     [&] { return state.error().message; });
  const auto loaded = copy.tuner_->load(*state);
  findings_->require(loaded.has_value(), "that its own state can be loaded",
                     [&] { return loaded.error().message; });
  copy.running_ = running_;
  copy.next_id_ = next_id_;
  copy.turn_ = turn_;
  copy.exhausted_ = exhausted_;
  copy.steps_ = steps_;
  copy.paused_ = paused_;
  findings_->expect_same(saved(*copy.tuner_), text, "the same state when it is saved again");
  return copy;
}

std::vector<std::string> Experiment::ask(std::size_t n) {
  std::vector<TrialId> ids(n);
  for (TrialId& id : ids) id = next_id_++;
  const std::vector<Answer> answers = tuner_->ask(ids);
  findings_->require(answers.size() == n, fmt::format("{} answers", n),
                     [&] { return fmt::format("{}", answers.size()); });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) texts.push_back(checked(ids[i], answers[i]));
  return texts;
}

std::vector<std::string> Experiment::turn() {
  findings_->set_turn(turn_);
  Rng rng = Rng(77).fork(std::to_string(turn_++));
  if (rng.index(10) == 0) tuner_->tell(std::vector{imported(rng)});
  if (rng.index(15) == 0) {
    const Point point = sample(*space_, rng);
    tuner_->adopt(next_id_, point);
    running_[next_id_++] = point;
  }
  const std::vector<std::string> texts = ask(1 + rng.index(3));
  if (wants_reports_) report(rng);
  std::vector<Outcome> outcomes;
  // One that waits for a batch to end would wait for ever.
  const bool waits = std::ranges::count(texts, "not yet") == std::ssize(texts);
  while (running_.size() > (waits ? 0 : 4)) {
    auto chosen = running_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.index(running_.size())));
    outcomes.push_back(ended(chosen->first, chosen->second, rng));
    add_others(*subject_, outcomes.back().metrics, rng);
    forget(chosen->first);
  }
  tuner_->tell(outcomes);
  return texts;
}

// Some of the running trials report; what the tuner decides about trials is done.
void Experiment::report(Rng& rng) {
  std::vector<TrialId> ids;
  for (const auto& [id, point] : running_) ids.push_back(id);
  for (const TrialId id : ids) {
    if (!running_.contains(id) || paused_.contains(id) || rng.index(3) == 0) continue;
    Report report{id, steps_[id]++, {{"default", rng.normal()}}};
    if (rng.index(12) == 0) report.metrics[0].second = rng.index(2) ? NAN : INFINITY;
    if (rng.index(20) == 0) report.metrics.clear();
    add_others(*subject_, report.metrics, rng);
    for (const Decision& decision : tuner_->on_report(report)) obey(decision, rng);
  }
}

void Experiment::obey(const Decision& decision, Rng& rng) {
  decided_.push_back(std::to_string(decision.trial) + ": " + decision.reason);
  if (decision.action == Action::pause) paused_.insert(decision.trial);
  const auto stopped = running_.find(decision.trial);
  if (decision.action != Action::stop || stopped == running_.end()) return;
  findings_->expect(!decision.reason.empty(), "a reason of each stop",
                    [&] { return fmt::format("none for trial {}", decision.trial); });
  Outcome outcome{.trial = decision.trial, .point = stopped->second, .end = End::stopped};
  if (decision.complete) {
    outcome.end = End::completed;
    outcome.loss = rng.normal();
    add_others(*subject_, outcome.metrics, rng);
  }
  forget(decision.trial);
  tuner_->tell(std::span(&outcome, 1));
}

std::vector<std::string> Experiment::turns(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    for (auto& text : turn()) all.push_back(std::move(text));
  }
  std::ranges::move(std::exchange(decided_, {}), std::back_inserter(all));
  return all;
}

void Experiment::adopt(int count, int seed) {
  Rng rng = Rng(78).fork(std::to_string(seed));
  for (int i = 0; i < count; ++i) {
    const Point point = sample(*space_, rng);
    tuner_->adopt(next_id_, point);
    running_[next_id_++] = point;
  }
}

void Experiment::end_all_but(std::size_t count) {
  Rng rng(79);
  while (running_.size() > count) {
    const auto chosen = running_.size() % 2 == 0 ? running_.begin() : std::prev(running_.end());
    Outcome outcome = ended(chosen->first, chosen->second, rng);
    add_others(*subject_, outcome.metrics, rng);
    tuner_->tell(std::span(&outcome, 1));
    forget(chosen->first);
  }
}

std::string Experiment::checked(TrialId id, const Answer& answer) {
  if (std::holds_alternative<Exhausted>(answer)) {
    exhausted_ = true;
    return "exhausted";
  }
  findings_->require(!exhausted_, "that exhausted is for ever",
                     [&] { return fmt::format("another answer for trial {}", id); });
  if (std::holds_alternative<NotYet>(answer)) return "not yet";
  return checked(id, std::get<Proposal>(answer));
}

std::string Experiment::checked(TrialId id, const Proposal& proposal) {
  const auto inside = check_point(*space_, proposal.point);
  findings_->require(inside.has_value(), "a point of the search space",
                     [&] { return inside.error().message; });
  // What a trial gets can be read back, and is the same then.
  const json parameters = tuner_->parameters(*space_, proposal.point);
  const auto back = tuner_->point_from(*space_, parameters);
  const std::string text = dump_json(parameters);
  findings_->require(back.has_value(), "parameters that can be read back",
                     [&] { return text + ": " + back.error().message; });
  findings_->expect_same(dump_json(tuner_->parameters(*space_, *back)), text,
                         "the same parameters when they are read back");
  if (proposal.resume) {
    const TrialId resumed = *proposal.resume;
    findings_->require(paused_.erase(resumed) == 1 && running_.contains(resumed),
                       "that it resumes only a trial that it has paused, and once",
                       [&] { return fmt::format("trial {}", resumed); });
    running_[resumed] = proposal.point;
  } else {
    running_[id] = proposal.point;
  }
  return text + (proposal.budget ? std::to_string(*proposal.budget) : "");
}

Outcome Experiment::imported(Rng& rng) const {
  Outcome outcome = {kImportedTrial, sample(*space_, rng), rng.normal(), {}, End::imported, {}};
  if (rng.index(4) == 0) outcome.loss.reset();
  add_others(*subject_, outcome.metrics, rng);
  return outcome;
}

void Experiment::forget(TrialId id) {
  running_.erase(id);
  paused_.erase(id);
  steps_.erase(id);
}

}  // namespace attune::conformance
