#include "plugins/answers.h"

#include <fmt/format.h>

#include <cmath>

#include "space/saved_point.h"

namespace attune {
namespace {

Result<void> check_proposal(const Proposal& proposal, const Space& space,
                            const KnownTrials& known) {
  TRY(check_point(space, proposal.point));
  if (proposal.budget && !(std::isfinite(*proposal.budget) && *proposal.budget > 0)) {
    return fail(fmt::format("the budget {} is not a positive number", *proposal.budget));
  }
  const json& free = proposal.point.parameters;
  if (proposal.budget && !free.is_null() && !free.is_object()) {
    return fail("a budget, and parameters that are no object: the trial could not be told");
  }
  if (proposal.resume && !known.runs(*proposal.resume)) {
    return fail(fmt::format("it resumes trial {}, which does not run", *proposal.resume));
  }
  // A checkpoint may be one of a trial that has ended.
  if (const auto from = proposal.checkpoint_from;
      from && !known.runs(*from) && !(*from >= 0 && *from <= known.most)) {
    return fail(fmt::format("it starts from trial {}, which is unknown", *from));
  }
  return check_reason(proposal.reason);
}

}  // namespace

Result<void> check_reason(const std::string& reason) {
  if (reason.size() > kMostReason) {
    return fail(fmt::format("a reason of {} bytes: {} are the most", reason.size(), kMostReason));
  }
  if (!is_utf8(reason)) return fail("a reason that is not UTF-8");
  return {};
}

Result<void> check_answers(const std::vector<Answer>& answers, std::size_t ids, const Space& space,
                           const KnownTrials& known) {
  if (answers.size() != ids) {
    return fail(fmt::format("{} answers to {} ids", answers.size(), ids));
  }
  for (std::size_t i = 0; i < ids; ++i) {
    const auto* proposal = std::get_if<Proposal>(&answers[i]);
    if (!proposal) continue;
    if (auto fine = check_proposal(*proposal, space, known); !fine) {
      return fail(fmt::format("answer {} of {}: {}", i + 1, ids, fine.error().message));
    }
  }
  return {};
}

Result<void> check_decisions(const std::vector<Decision>& decisions, const KnownTrials& known) {
  if (decisions.size() > kMostDecisions) {
    return fail(fmt::format("{} decisions: {} are the most", decisions.size(), kMostDecisions));
  }
  for (const Decision& decision : decisions) {
    if (!known.runs(decision.trial)) {
      return fail(fmt::format("a decision on trial {}, which does not run", decision.trial));
    }
    if (decision.complete && decision.action != Action::stop) {
      return fail(fmt::format("a decision on trial {} is complete, and no stop", decision.trial));
    }
    TRY(check_reason(decision.reason));
  }
  return {};
}

}  // namespace attune
