#include "conformance/earlier_checks.h"

#include "conformance/experiment.h"
#include "space/sample.h"

namespace attune::conformance {
namespace {

// The parameter at the top that this point lacks from now on, with those in its options.
void make_gap(const Space& space, Point& point, Rng& rng) {
  std::size_t top = rng.index(space.params.size());
  while (space.params[top].condition) --top;
  point.values[top] = Point::kInactive;
  for (std::size_t i = top + 1; i < space.params.size(); ++i) {
    if (!is_descendant(space.params[i], top)) break;
    point.values[i] = Point::kInactive;
  }
}

enum class Losses { any, one, vast };

EarlierTask task(const Space& space, int count, Losses losses, bool gaps, Rng& rng) {
  EarlierTask task{.name = "earlier", .points = {}, .losses = {}};
  for (int i = 0; i < count; ++i) {
    task.points.push_back(sample(space, rng));
    if (gaps && space.params.size() > 1 && rng.index(2) == 0) {
      make_gap(space, task.points.back(), rng);
    }
    const double loss = losses == Losses::any ? rng.normal() : 1e308;
    task.losses.push_back(losses == Losses::vast && rng.index(2) == 0 ? -loss : loss);
  }
  return task;
}

// What there can be: many results and one, equal and enormous ones, parameters that were missing.
std::vector<EarlierTask> tasks_in(const Space& space) {
  Rng rng(80);
  return {task(space, 30, Losses::any, false, rng), task(space, 12, Losses::any, true, rng),
          task(space, 1, Losses::any, false, rng), task(space, 5, Losses::one, false, rng),
          task(space, 12, Losses::vast, true, rng)};
}

}  // namespace

void earlier_experiments(const TunerSubject& subject, const Space& space, Findings& findings) {
  const std::vector<EarlierTask> tasks = tasks_in(space);
  Experiment original(subject, space, findings), again(subject, space, findings);
  const auto starts = original.learn_from(tasks);
  if (!original.tuner().learns_from_earlier()) {
    findings.expect(starts.empty(), "no first trials of a tuner that learns nothing from tasks",
                    [&] { return std::to_string(starts.size()); });
  }
  findings.expect_same(again.learn_from(tasks), starts,
                       "the same first trials from the same tasks");
  for (const int turns : {0, 4, 8}) {
    original.turns(subject.turns(turns, turns / 2));
    if (!subject.entry.saves) {
      findings.skip(kDoesNotSave);
      continue;
    }
    Experiment copy = original.restored();
    const auto expected = original.turns(subject.turns(5, 2));
    findings.expect_same(copy.turns(subject.turns(5, 2)), expected,
                         "the same answers as without the restart");
  }
}

}  // namespace attune::conformance
