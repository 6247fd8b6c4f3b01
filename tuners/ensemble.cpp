// A portfolio of tuners that learns which of them finds improvements in this experiment.
//
// Source: the AUC bandit of Ansel et al., "OpenTuner: An Extensible Framework for Program
// Autotuning" (PACT 2014), section 3.2, after Fialho, Schoenauer, Sebag (GECCO 2010). It looks at
// the last `window` results of trials that the members proposed; member t has n_t of them. The
// credit of a member is the area under the curve of its new bests, where later ones count more. The
// member with the largest
//
//   2 / (n_t (n_t + 1)) * sum of the positions i of its new bests + C sqrt(2 log(sum n) / n_t)
//
// proposes next. A member with neither a result in the window nor a running trial comes first.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "base/saved_numbers.h"
#include "tuners/parts/objectives.h"
#include "tuners/parts/portfolio.h"

namespace attune {
namespace ensemble_tuner {
namespace {

struct Settings {
  std::size_t window = 50;
  double exploration = 0.05;
};

// One result in the window.
struct Try {
  std::size_t member = 0;
  bool improved = false;
};

class Ensemble final : public Tuner {
 public:
  Ensemble(Portfolio members, const Settings& settings, const Context& context)
      : members_(std::move(members)), settings_(settings), objectives_(context) {}

  Result<void> set_space(const Space& space) override {
    TRY(members_.set_space(space));
    owners_.clear();
    running_.assign(members_.size(), 0);
    tries_.clear();
    best_.reset();
    return {};
  }

  bool set_priors(const Space& space) override { return members_.set_priors(space); }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) {
      std::size_t who = choose();
      Answer answer = members_.ask(id, who);
      if (std::holds_alternative<Proposal>(answer)) own(id, who);
      return answer;
    });
  }

  void withdraw(TrialId id) override {
    members_.withdraw(id);
    forget(id);
  }

  void tell(std::span<const Outcome> outcomes) override {
    members_.tell(outcomes);
    for (const Outcome& outcome : outcomes) {
      const bool improved = improves(outcome);
      if (outcome.end == End::imported) continue;
      if (const auto member = forget(outcome.trial)) {
        tries_.push_back({*member, improved});
        if (tries_.size() > settings_.window) tries_.pop_front();
      }
    }
  }

  void adopt(TrialId id, const Point& point) override {
    members_.adopt(id, point);
    forget(id);
  }

  bool learns_from_earlier() const override { return members_.learns_from_earlier(); }
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks) override {
    return members_.learn_from(tasks);
  }
  void skip_ahead() override { members_.skip_ahead(); }
  std::string take_notes() override { return members_.take_notes(); }
  void replay_notes(const std::string& notes) override { members_.replay_notes(notes); }
  void end_replay() override { members_.end_replay(); }
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  // Whether the outcome is a new best. It compares the violation of limits first, then the first
  // objective.
  bool improves(const Outcome& outcome) {
    const auto values = objectives_(outcome);
    if (!values) return false;
    const Best now = {violation(*values, objectives_.size()), values->front()};
    if (best_ && now >= *best_) return false;
    best_ = now;
    return true;
  }

  std::size_t choose() const;
  void own(TrialId id, std::size_t member) {
    forget(id);
    owners_.emplace(id, member);
    ++running_[member];
  }
  // Removes the owner of a running trial, and returns it: the member that proposed it, if any.
  std::optional<std::size_t> forget(TrialId id) {
    const auto owner = owners_.find(id);
    if (owner == owners_.end()) return std::nullopt;
    const std::size_t member = owner->second;
    owners_.erase(owner);
    --running_[member];
    return member;
  }

  using Best = std::pair<double, double>;  // violation of limits, loss

  Portfolio members_;
  Settings settings_;
  Objectives objectives_;
  std::map<TrialId, std::size_t> owners_;  // running trial -> the member that proposed it
  std::vector<std::size_t> running_;       // how many of them, for each member
  std::deque<Try> tries_;                  // oldest first
  std::optional<Best> best_;
};

// A running trial counts as one without an improvement, so that the members share a batch.
std::size_t Ensemble::choose() const {
  std::vector<double> count(members_.size()), area(members_.size());
  for (const auto& [member, improved] : tries_) {
    count[member] += 1;
    if (improved) area[member] += count[member];
  }
  double total = 0;
  for (std::size_t t = 0; t < count.size(); ++t) count[t] += static_cast<double>(running_[t]);
  for (const double n : count) total += n;
  std::size_t best = 0;
  double most = -1;
  for (std::size_t t = 0; t < count.size(); ++t) {
    if (count[t] == 0) return t;
    const double credit = 2 * area[t] / (count[t] * (count[t] + 1)) +
                          settings_.exploration * std::sqrt(2 * std::log(total) / count[t]);
    if (credit > most) {
      most = credit;
      best = t;
    }
  }
  return best;
}

json Ensemble::save() const {
  json owners = json::array(), tries = json::array();
  std::vector<double> best;
  if (best_) best = {best_->first, best_->second};
  for (const auto& [trial, member] : owners_) owners.push_back({trial, member});
  for (const Try& one : tries_) tries.push_back({one.member, one.improved ? 1 : 0});
  return {{"members", members_.save()},
          {"owners", owners},
          {"tries", tries},
          {"best", save_numbers(best)}};
}

// Reads an array of pairs of integers. The callers check their ranges.
Result<std::vector<std::pair<std::int64_t, std::int64_t>>> pairs_at(const json& state,
                                                                    std::string_view key) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const json& one : TRY(array_at(state, key))) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer() ||
        !one[1].is_number_integer()) {
      return fail("saved state: " + std::string(key) + ": pairs of integers expected");
    }
    pairs.emplace_back(one[0].get<std::int64_t>(), one[1].get<std::int64_t>());
  }
  return pairs;
}

Result<void> Ensemble::load(const json& state) {
  const auto is_member = [this](std::int64_t i) {
    return i >= 0 && i < static_cast<std::int64_t>(members_.size());
  };
  const auto impossible = [] { return fail("saved state: impossible members or results"); };
  std::map<TrialId, std::size_t> owners;
  std::vector<std::size_t> running(members_.size());
  for (const auto& [trial, member] : TRY(pairs_at(state, "owners"))) {
    if (!is_member(member)) return impossible();
    const auto index = static_cast<std::size_t>(member);
    if (!owners.emplace(trial, index).second) return impossible();
    ++running[index];
  }
  std::deque<Try> tries;
  for (const auto& [member, improved] : TRY(pairs_at(state, "tries"))) {
    if (!is_member(member) || (improved != 0 && improved != 1)) return impossible();
    tries.push_back({static_cast<std::size_t>(member), improved == 1});
  }
  if (tries.size() > settings_.window) return impossible();
  const auto best = TRY(numbers_at(state, "best"));
  if ((!best.empty() && best.size() != 2) ||
      !std::ranges::all_of(best, [](double x) { return std::isfinite(x); })) {
    return impossible();
  }
  TRY(members_.load(TRY(object_at(state, "members"))));
  owners_ = std::move(owners);
  running_ = std::move(running);
  tries_ = std::move(tries);
  best_.reset();
  if (!best.empty()) best_ = {best[0], best[1]};
  return {};
}

// Tuners that cannot share an experiment: they follow their own schedule, or write their own
// parameters.
constexpr const char* kAlone[] = {"Batch", "GridSearch", "ensemble", "auto"};

Result<Portfolio> portfolio(const std::string& names, const TunerContext& context, const Rng& rng) {
  Portfolio members;
  std::vector<std::string> known;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    std::string name = names.substr(at, end - at);
    std::erase(name, ' ');
    at = end + 1;
    const auto found = context.tuners->find(name, "tuner");
    if (!found) return fail("ensemble.members: " + found.error().message);
    const TunerEntry* entry = *found;
    if (entry->wants_reports || std::ranges::find(kAlone, entry->name) != std::end(kAlone)) {
      return fail("ensemble.members: " + entry->name +
                  " cannot share an experiment; name search algorithms, as in \"GP,TPE,SMAC\"");
    }
    if (std::ranges::find(known, entry->name) != known.end()) {
      return fail("ensemble.members: " + entry->name + " is there twice");
    }
    known.push_back(entry->name);
    if (auto added = members.add(*entry, context, rng); !added) {
      return fail("ensemble.members: " + added.error().message);
    }
  }
  return members;
}

Result<std::unique_ptr<Tuner>> make(const json& args, const TunerContext& context, Rng rng) {
  Settings settings;
  settings.window = args["window"];
  settings.exploration = args["exploration"];
  Portfolio members = TRY(portfolio(args["members"], context, rng));
  if (settings.window < members.size()) {
    return fail("ensemble.window: at least one result of each of the " +
                std::to_string(members.size()) + " members must have room in it");
  }
  return std::make_unique<Ensemble>(std::move(members), settings, context);
}

}  // namespace
}  // namespace ensemble_tuner

extern const TunerEntry ensemble_entry = {
    .name = "ensemble",
    .aliases = {"portfolio"},
    .summary = "several tuners, and more of those that find improvements here",
    .arguments = {{.name = "members",
                   .type = Argument::Type::text,
                   .fallback = "GP,TPE,SMAC",
                   .help = "names of tuners, separated by commas"},
                  {.name = "window",
                   .type = Argument::Type::integer,
                   .fallback = 50,
                   .help = "of so many last results the members' merits are judged",
                   .low = 1,
                   .high = 100000},
                  {.name = "exploration",
                   .type = Argument::Type::number,
                   .fallback = 0.05,
                   .help = "how much members with few results are favoured",
                   .low = 0,
                   .high = 1000}},
    .maximizes = false,
    .make = ensemble_tuner::make};

}  // namespace attune
