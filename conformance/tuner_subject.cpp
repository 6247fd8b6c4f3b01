#include "conformance/tuner_subject.h"

#include "conformance/arguments_check.h"

namespace attune::conformance {

namespace {

// With the built-in tuners behind it, which a tuner with levels has for searchers.
TunerRegistry with_builtin_tuners(const TunerEntry& entry) {
  TunerRegistry registry;
  registry.add(entry);
  const TunerRegistry builtin = builtin_tuners();
  for (const TunerEntry& each : builtin.entries()) registry.add(each);
  return registry;
}

}  // namespace

std::unique_ptr<Tuner> TunerSubject::make(Findings& findings, std::uint64_t seed) const {
  const TunerRegistry registry = with_builtin_tuners(entry);
  Context context;
  context.objectives = objectives;
  auto made = make_tuner(registry, entry.name, arguments, context, seed);
  findings.require(made.has_value(), "that it can be made with these arguments",
                   [&] { return made.error().message; });
  return std::move(made->tuner);
}

void prepare(TunerSubject& subject, Findings& findings) {
  const TunerRegistry registry = with_builtin_tuners(subject.entry);
  findings.attempt([&] {
    expect_arguments(
        subject.entry, subject.arguments,
        [&](const json& arguments) {
          const auto made = make_tuner(registry, subject.entry.name, arguments, {}, 1);
          return made ? std::string() : made.error().message;
        },
        findings);
  });
  const std::vector<TestSpace>& spaces = test_spaces();
  // Stops at a finding: the next space would mostly say the same.
  for (std::size_t i = 0; i < spaces.size() && findings.failed() == 0; ++i) {
    findings.enter("search space \"" + spaces[i].name + "\"");
    findings.attempt([&] {
      const auto set = subject.make(findings)->set_space(spaces[i].space);
      if (!set) {
        subject.declined.push_back(&spaces[i]);
        findings.expect(!set.error().message.empty(), "an error that says why it is declined",
                        [] { return "an empty text"; });
        return;
      }
      subject.accepted.push_back(&spaces[i]);
      if (i % subject.step == 0) subject.checked.push_back(&spaces[i]);
    });
  }
  if (findings.failed() > 0) return;
  if (subject.checked.empty()) subject.checked = subject.accepted;
  findings.enter("");
  findings.expect(!subject.checked.empty(), "at least one search space that it accepts",
                  [] { return "none"; });
}

}  // namespace attune::conformance
