#include "dispatcher/repeating_tuner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {
namespace {

class RepeatingTuner final : public Tuner {
 public:
  explicit RepeatingTuner(std::unique_ptr<Tuner> tuner) : tuner_(std::move(tuner)) {}

  Result<void> set_space(const Space& space) override {
    TRY(tuner_->set_space(space));
    space_ = space;
    forget();
    return {};
  }

  bool learns_from_earlier() const override { return tuner_->learns_from_earlier(); }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    return tuner_->learn_from(tasks);
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    std::vector<Answer> answers = tuner_->ask(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (std::holds_alternative<Exhausted>(answers[i])) answers[i] = repeat(ids[i]);
      if (std::holds_alternative<Proposal>(answers[i])) running_.insert(ids[i]);
    }
    return answers;
  }

  bool set_priors(const Space& space) override { return tuner_->set_priors(space); }
  bool begin_with(const Point& point) override { return tuner_->begin_with(point); }

  void withdraw(TrialId id) override {
    running_.erase(id);
    tuner_->withdraw(id);
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      running_.erase(outcome.trial);
      if (outcome.is_result()) learn(outcome.point, *outcome.loss, 1);
    }
    tuner_->tell(outcomes);
  }

  void adopt(TrialId id, const Point& point) override {
    running_.insert(id);
    tuner_->adopt(id, point);
  }

  json parameters(const Space& space, const Point& point) const override {
    return tuner_->parameters(space, point);
  }
  Result<Point> point_from(const Space& space, const json& parameters) const override {
    return tuner_->point_from(space, parameters);
  }
  json extra_parameters(TrialId id) const override { return tuner_->extra_parameters(id); }
  bool any_parameters() const override { return tuner_->any_parameters(); }
  bool wants_reports() const override { return tuner_->wants_reports(); }
  bool pauses_at_budget() const override { return tuner_->pauses_at_budget(); }
  std::vector<Decision> on_report(const Report& report) override {
    return tuner_->on_report(report);
  }
  void on_checkpoint(TrialId id, bool saved) override { tuner_->on_checkpoint(id, saved); }
  void skip_ahead() override { tuner_->skip_ahead(); }
  std::string take_notes() override { return tuner_->take_notes(); }
  void replay_notes(const std::string& notes) override { tuner_->replay_notes(notes); }
  void end_replay() override { tuner_->end_replay(); }

  json save() const override {
    std::vector<const Point*> points;
    std::vector<double> losses, counts;
    for (const Known& known : known_) {
      points.push_back(&known.point);
      losses.push_back(known.loss);
      counts.push_back(static_cast<double>(known.count));
    }
    return {{"tuner", tuner_->save()},
            {"points", save_points(points)},
            {"losses", save_numbers(losses)},
            {"counts", save_numbers(counts)},
            {"round", save_numbers(std::vector<double>(round_.begin(), round_.end()))},
            {"running", running_}};
  }

  Result<void> load(const json& state) override {
    const auto losses = TRY(numbers_at(state, "losses"));
    const auto counts = TRY(numbers_at(state, "counts"));
    const auto round = TRY(numbers_at(state, "round"));
    const auto points = TRY(load_points(space_, TRY(value_at(state, "points")), losses.size()));
    if (counts.size() != losses.size()) return fail("saved state: columns of different length");
    for (const double i : round) {
      if (!is_index(i, static_cast<double>(points.size()))) {
        return fail("saved state: no such point to repeat");
      }
    }
    const json running = TRY(array_at(state, "running"));
    for (const json& id : running) {
      if (!id.is_number_integer()) return fail("saved state: running trials must be integers");
    }
    TRY(tuner_->load(TRY(value_at(state, "tuner"))));
    forget();
    for (std::size_t i = 0; i < points.size(); ++i) learn(points[i], losses[i], counts[i]);
    for (const double i : round) round_.push_back(static_cast<std::size_t>(i));
    for (const json& id : running) running_.insert(id.get<TrialId>());
    return {};
  }

 private:
  struct Known {
    Point point;
    double loss = 0;   // the mean of its results
    double count = 0;  // of its results
  };
  using Key = std::pair<std::vector<double>, std::string>;  // of a point: its two members

  void forget() {
    known_.clear();
    index_.clear();
    round_.clear();
    running_.clear();
  }

  void learn(const Point& point, double loss, double count) {
    Key key{point.values, point.parameters.is_null() ? "" : dump_json(point.parameters)};
    for (double& x : key.first) {
      if (x != x) x = std::numeric_limits<double>::infinity();  // the key of a map must not be NaN
    }
    const auto [at, is_new] = index_.try_emplace(std::move(key), known_.size());
    if (is_new) known_.push_back({.point = point});
    Known& known = known_[at->second];
    known.count += count;
    known.loss += (loss - known.loss) * (count / known.count);
  }

  Answer repeat(TrialId id) {
    if (round_.empty()) begin_round();
    if (round_.empty()) return running_.empty() ? Answer(Exhausted{}) : Answer(NotYet{});
    const Point& point = known_[round_.back()].point;
    round_.pop_back();
    tuner_->adopt(id, point);
    return Proposal{.point = point};
  }

  // Leaves out imported points that break a constraint.
  void begin_round() {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (space_.feasible(known_[i].point)) round_.push_back(i);
    }
    std::ranges::sort(round_, std::ranges::greater{},
                      [this](std::size_t i) { return std::pair(known_[i].loss, i); });
  }

  const std::unique_ptr<Tuner> tuner_;
  Space space_;
  std::vector<Known> known_;          // in the order of their first results
  std::map<Key, std::size_t> index_;  // of known_
  std::vector<std::size_t> round_;    // into known_; the next one last
  std::set<TrialId> running_;
};

}  // namespace

std::unique_ptr<Tuner> make_repeating(std::unique_ptr<Tuner> tuner) {
  return std::make_unique<RepeatingTuner>(std::move(tuner));
}

}  // namespace attune
