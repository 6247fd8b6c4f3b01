#include "plugins/abi_tuner.h"

#include <fmt/format.h>

#include "plugins/abi_instance.h"
#include "plugins/answers.h"

namespace attune {
namespace {

class AbiTuner final : public PluginTuner {
 public:
  AbiTuner(const attune_algorithm& algorithm, PluginSetup setup)
      : functions_(*algorithm.tuner), instance_(algorithm, std::move(setup)) {}

  Result<void> restart() override { return instance_.create(); }

  Result<void> set_space(const Space& space) override {
    const AbiSpace given(space);
    TRY(call_plugin(functions_.set_space, self(), given.get()));
    size_ = space.params.size();
    return {};
  }

  Result<std::vector<Answer>> ask(std::span<const TrialId> ids) override {
    values_.assign(ids.size() * size_, Point::kInactive);
    answers_.assign(ids.size(), {});
    for (std::size_t i = 0; i < ids.size(); ++i) answers_[i].values = values_.data() + i * size_;
    TRY(call_plugin(functions_.ask, self(), ids.data(), ids.size(), answers_.data()));
    std::vector<Answer> answers;
    answers.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) answers.push_back(TRY(answer(i)));
    return answers;
  }

  Result<void> withdraw(TrialId id) override {
    if (!functions_.withdraw) return {};
    return call_plugin(functions_.withdraw, self(), id);
  }

  Result<void> tell(std::span<const Outcome> outcomes) override {
    metrics_.clear();
    std::vector<std::size_t> starts;
    for (const Outcome& outcome : outcomes) starts.push_back(metrics_.add(outcome.metrics));
    std::vector<attune_outcome> told;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Outcome& outcome = outcomes[i];
      told.push_back({.trial = outcome.trial,
                      .end = static_cast<std::int32_t>(outcome.end),
                      .has_loss = outcome.loss.has_value(),
                      .loss = outcome.loss.value_or(Point::kInactive),
                      .budget = outcome.budget.value_or(Point::kInactive),
                      .values = outcome.point.values.data(),
                      .metrics = metrics_.at(starts[i]),
                      .metric_count = outcome.metrics.size()});
    }
    return call_plugin(functions_.tell, self(), told.data(), told.size());
  }

  Result<void> adopt(TrialId id, const Point& point) override {
    return call_plugin(functions_.adopt, self(), id, point.values.data());
  }

  Result<std::vector<Decision>> on_report(const Report& report) override {
    if (!functions_.report) return std::vector<Decision>();
    metrics_.clear();
    metrics_.add(report.metrics);
    const attune_report given{report.trial, report.step, metrics_.at(0), report.metrics.size()};
    Decided decided;
    TRY(call_plugin(functions_.report, self(), &given, &decide, static_cast<void*>(&decided)));
    if (!decided.error.empty()) return fail(decided.error);
    return std::move(decided.decisions);
  }

  Result<void> skip_ahead() override {
    if (!functions_.skip_ahead) return {};
    return call_plugin(functions_.skip_ahead, self());
  }

  Result<json> save() override { return instance_.save(); }
  Result<void> load(const json& state) override { return instance_.load(state); }

 private:
  struct Decided {
    std::vector<Decision> decisions;
    std::string error;
  };

  static void decide(void* context, const attune_decision* decision) {
    auto& decided = *static_cast<Decided*>(context);
    if (decided.decisions.size() > kMostDecisions) return;  // check_decisions() refuses these
    auto one = decision_of(*decision);
    if (one) {
      decided.decisions.push_back(*std::move(one));
    } else {
      decided.error = one.error().message;
    }
  }

  void* self() const { return instance_.self(); }

  Result<Answer> answer(std::size_t i) const {
    const attune_answer& given = answers_[i];
    switch (given.kind) {
      case ATTUNE_NOT_YET:
        return NotYet{};
      case ATTUNE_EXHAUSTED:
        return Exhausted{};
      case ATTUNE_PROPOSAL:
        break;
      default:
        return fail(
            fmt::format("answer {} of {} is of no kind ({})", i + 1, answers_.size(), given.kind));
    }
    const auto start = values_.begin() + static_cast<std::ptrdiff_t>(i * size_);
    Proposal proposal{.point = {{start, start + static_cast<std::ptrdiff_t>(size_)}}};
    if (given.flags & ATTUNE_HAS_BUDGET) proposal.budget = given.budget;
    if (given.flags & ATTUNE_HAS_RESUME) proposal.resume = given.resume;
    if (given.flags & ATTUNE_HAS_CHECKPOINT_FROM) proposal.checkpoint_from = given.checkpoint_from;
    proposal.reason = text_of(given.reason);
    return proposal;
  }

  const attune_tuner& functions_;
  AbiInstance instance_;
  std::size_t size_ = 0;  // parameters of the space
  // Kept from call to call, for their memory.
  std::vector<double> values_;
  std::vector<attune_answer> answers_;
  AbiMetrics metrics_;
};

class AbiAssessor final : public PluginAssessor {
 public:
  AbiAssessor(const attune_algorithm& algorithm, PluginSetup setup)
      : functions_(*algorithm.assessor), instance_(algorithm, std::move(setup)) {}

  Result<void> restart() override { return instance_.create(); }

  Result<Decision> assess(TrialId trial, std::span<const Report> reports) override {
    metrics_.clear();
    std::vector<std::size_t> starts;
    for (const Report& report : reports) starts.push_back(metrics_.add(report.metrics));
    std::vector<attune_report> given;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      given.push_back({trial, reports[i].step, metrics_.at(starts[i]), reports[i].metrics.size()});
    }
    attune_decision decision{trial, ATTUNE_KEEP_GOING, 0, nullptr};
    TRY(call_plugin(functions_.assess, instance_.self(), trial, given.data(), given.size(),
                    &decision));
    return decision_of(decision);
  }

  Result<void> trial_end(TrialId trial, End end) override {
    if (!functions_.trial_end) return {};
    return call_plugin(functions_.trial_end, instance_.self(), trial,
                       static_cast<std::int32_t>(end));
  }

  Result<json> save() override { return instance_.save(); }
  Result<void> load(const json& state) override { return instance_.load(state); }

 private:
  const attune_assessor& functions_;
  AbiInstance instance_;
  AbiMetrics metrics_;
};

}  // namespace

Result<std::unique_ptr<PluginTuner>> make_abi_tuner(const attune_algorithm& algorithm,
                                                    PluginSetup setup) {
  auto tuner = std::make_unique<AbiTuner>(algorithm, std::move(setup));
  TRY(tuner->restart());
  return tuner;
}

Result<std::unique_ptr<PluginAssessor>> make_abi_assessor(const attune_algorithm& algorithm,
                                                          PluginSetup setup) {
  auto assessor = std::make_unique<AbiAssessor>(algorithm, std::move(setup));
  TRY(assessor->restart());
  return assessor;
}

}  // namespace attune
