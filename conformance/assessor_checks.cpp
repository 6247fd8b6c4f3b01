#include "conformance/assessor_checks.h"

#include <fmt/format.h>

#include "conformance/arguments_check.h"
#include "conformance/assessor_script.h"
#include "conformance/damaged.h"

namespace attune::conformance {
namespace {

std::string state_of(const Assessor& assessor) { return dump_json(assessor.save()); }

// Makes the calls from number `from` on.
std::vector<std::string> decisions(Assessor& assessor, const Script& script, std::size_t from,
                                   Findings& findings) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < script.calls.size(); ++i) {
    findings.set_turn(static_cast<int>(i));
    all.push_back(apply(assessor, script.calls[i], findings));
  }
  return all;
}

void arguments_are_declared(const AssessorSubject& subject, Findings& findings) {
  AssessorRegistry registry;
  registry.add(subject.entry);
  expect_arguments(
      subject.entry, subject.arguments,
      [&](const json& arguments) {
        const auto made = make_assessor(registry, subject.entry.name, arguments, {}, 42);
        return made ? std::string() : made.error().message;
      },
      findings);
}

void each_decision(const AssessorSubject& subject, Findings& findings) {
  decisions(*subject.make(findings), Script(), 0, findings);
}

void same_calls_same_decisions(const AssessorSubject& subject, Findings& findings) {
  const Script script;
  const auto first = decisions(*subject.make(findings), script, 0, findings);
  findings.expect_same(decisions(*subject.make(findings), script, 0, findings), first,
                       "the same decisions from the same calls");
}

void loaded_anywhere(const AssessorSubject& subject, Findings& findings) {
  const Script script;
  const auto undisturbed = subject.make(findings);
  std::vector<std::string> expected, states;
  for (const Script::Call& call : script.calls) {
    states.push_back(state_of(*undisturbed));
    expected.push_back(apply(*undisturbed, call, findings));
  }
  for (std::size_t from = 0; from < script.calls.size(); from += 7) {
    findings.enter(fmt::format("after call {}", from));
    const auto loaded = subject.make(findings);
    const auto state = parse_json(states[from]);  // as a snapshot goes
    findings.require(state.has_value(), "a state that is JSON",
                     [&] { return state.error().message; });
    const auto done = loaded->load(*state);
    findings.require(done.has_value(), "that its own state can be loaded",
                     [&] { return done.error().message; });
    findings.expect_same(state_of(*loaded), states[from], "the same state when it is saved again");
    const std::vector<std::string> rest(expected.begin() + static_cast<std::ptrdiff_t>(from),
                                        expected.end());
    findings.expect_same(decisions(*loaded, script, from, findings), rest,
                         "the same decisions as without the restart");
  }
}

void damaged_assessor_states(const AssessorSubject& subject, Findings& findings) {
  const Script script;
  const auto assessor = subject.make(findings);
  for (std::size_t i = 0; i < 100; ++i) apply(*assessor, script.calls[i], findings);
  const json good = assessor->save();
  expect_damage_is_refused(
      good, [&](const json& damaged) { return assessor->load(damaged).has_value(); },
      {json("x"), json(1.5), json::array({"x"})}, findings);
  findings.expect_same(state_of(*assessor), dump_json(good),
                       "the same state after the damaged ones");
}

void unknown_trial_ends(const AssessorSubject& subject, Findings& findings) {
  const auto assessor = subject.make(findings);
  const auto state = [&] { return subject.entry.saves ? state_of(*assessor) : std::string(); };
  const std::string before = state();
  for (const End end : {End::completed, End::failed, End::stopped}) assessor->trial_end(99, end);
  if (!subject.entry.saves) findings.skip(kDoesNotSave);
  findings.expect_same(state(), before, "the same state as before");
  apply(*assessor, Script().calls.front(), findings);  // it still answers
}

}  // namespace

std::unique_ptr<Assessor> AssessorSubject::make(Findings& findings) const {
  AssessorRegistry registry;
  registry.add(entry);
  auto made = make_assessor(registry, entry.name, arguments, {}, 42);
  findings.require(made.has_value(), "that it can be made with these arguments",
                   [&] { return made.error().message; });
  return *std::move(made);
}

const std::vector<AssessorCheck>& assessor_checks() {
  static const std::vector<AssessorCheck> all = {
      {.name = "arguments are declared, defaulted and checked",
       .demand = "It has a summary, each argument has help, the defaults are accepted, it can be "
                 "maximised and minimised, and an unknown argument is an error.",
       .run = arguments_are_declared},
      {.name = "each decision is about the trial, and has a reason unless it goes on",
       .demand = "Each decision names the trial that has reported; it goes on, is stopped or "
                 "paused, and the last two have a reason.",
       .run = each_decision},
      {.name = "same calls, same decisions",
       .demand = "Two instances that hear the same decide the same.",
       .exact = true,
       .run = same_calls_same_decisions},
      {.name = "saved and loaded anywhere, the same rest",
       .demand = "At any moment a new instance that loads the saved state decides as the saved one "
                 "does, and saves the same state.",
       .exact = true,
       .run = loaded_anywhere},
      {.name = "damaged states are errors and change nothing",
       .demand = "A state that could not have been saved is an error of load(), and the assessor "
                 "stays as it was.",
       .exact = true,
       .run = damaged_assessor_states},
      {.name = "the end of an unknown trial is nothing",
       .demand = "trial_end() of a trial that has not reported changes nothing.",
       .run = unknown_trial_ends},
  };
  return all;
}

Findings run_check(const AssessorCheck& check, const AssessorSubject& subject) {
  Findings findings;
  if (check.exact && !subject.entry.saves) {
    findings.skip(kDoesNotSave);
    return findings;
  }
  findings.attempt([&] { check.run(subject, findings); });
  return findings;
}

}  // namespace attune::conformance
