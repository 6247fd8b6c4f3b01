// Runs a list of given configurations in order. The space is one `choice` whose candidates are the
// configurations; a candidate itself is what the trial gets, without a key around it.
#include <algorithm>
#include <deque>
#include <set>

#include "base/saved_numbers.h"
#include "tuners/registry.h"

namespace attune {
namespace batch_tuner {
namespace {

class Batch final : public Tuner {
 public:
  Result<void> set_space(const Space& space) override {
    const auto* choice =
        space.params.size() == 1 ? std::get_if<Choice>(&space.params[0].domain) : nullptr;
    if (!choice || choice->layer || choice->nested) {
      return fail(
          "search_space: Batch needs exactly one parameter, a choice whose candidates are the "
          "configurations: {\"configurations\": {\"_type\": \"choice\", \"_value\": [{...}, "
          "...]}}");
    }
    same_as_ = choice->canonical;
    waiting_.clear();
    given_.clear();
    for (std::size_t i = 0; i < same_as_.size(); ++i) waiting_.push_back(i);
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      if (waiting_.empty()) return Exhausted{};
      const auto index = static_cast<double>(waiting_.front());
      waiting_.pop_front();
      given_.insert(id);
      return Proposal{.point = {{index}}};
    });
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      if (outcome.end == End::imported) remove(outcome.point);
    }
  }

  // A trial that was proposed here has left the list already, whatever becomes of it.
  void adopt(TrialId id, const Point& point) override {
    if (!given_.contains(id)) remove(point);
  }

  json parameters(const Space& space, const Point& point) const override {
    return std::get<Choice>(space.params[0].domain)
        .candidates[static_cast<std::size_t>(point.values[0])];
  }

  Result<Point> point_from(const Space& space, const json& parameters) const override {
    return point_from_json(space, json::object({{space.params[0].name, parameters}}));
  }

  json save() const override {
    const std::vector<double> waiting(waiting_.begin(), waiting_.end());
    return {{"waiting", save_numbers(waiting)}, {"given", given_}};
  }

  Result<void> load(const json& state) override {
    std::deque<std::size_t> waiting;
    for (const double index : TRY(numbers_at(state, "waiting"))) {
      if (!(index >= 0 && index < static_cast<double>(same_as_.size()))) {
        return fail("saved state: Batch has no such candidate");
      }
      waiting.push_back(static_cast<std::size_t>(index));
    }
    auto given = TRY(trials_at(state, "given"));
    waiting_ = std::move(waiting);
    given_ = std::move(given);
    return {};
  }

 private:
  // Removes the first waiting candidate that equals `point`. Only one: the list may hold a
  // configuration several times, and each import stands for one run of it.
  void remove(const Point& point) {
    const std::size_t wanted = same_as_[static_cast<std::size_t>(point.values[0])];
    const auto found = std::ranges::find(waiting_, wanted, [this](auto i) { return same_as_[i]; });
    if (found != waiting_.end()) waiting_.erase(found);
  }

  std::vector<std::size_t> same_as_;  // of each candidate: the first one that is equal
  std::deque<std::size_t> waiting_;   // indices in the order of the list
  std::set<TrialId> given_;           // trials that were proposed here
};

}  // namespace
}  // namespace batch_tuner

extern const TunerEntry batch_entry = {
    .name = "Batch",
    .aliases = {"BatchTuner"},
    .summary = "runs a list of given configurations in order",
    .arguments = {},
    .maximizes = true,
    .make = [](const json&, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<batch_tuner::Batch>();
    }};

}  // namespace attune
