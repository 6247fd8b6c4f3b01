#pragma once
// What is demanded of the arguments that an entry declares. The same for tuners and assessors.
#include <string>

#include "base/arguments.h"
#include "conformance/findings.h"

namespace attune::conformance {

// `make(arguments)` returns the error text, or "" when the algorithm is made.
template <class Entry, class Make>
void expect_arguments(const Entry& entry, const json& given, Make&& make, Findings& findings) {
  findings.expect(!entry.summary.empty(), "a summary", [] { return "none"; });
  for (const Argument& argument : all_arguments(entry)) {
    findings.expect(!argument.help.empty(), "help of the argument " + argument.name,
                    [] { return "none"; });
  }
  const auto accepted = [&](const json& arguments, const char* what) {
    const std::string error = make(arguments);
    findings.expect(error.empty(), what, [&] { return error; });
  };
  const auto defaults = entry.any_arguments
                            ? unchecked_arguments(entry.name, given)
                            : resolve_arguments(entry.name, all_arguments(entry), given);
  findings.require(defaults.has_value(), "that the arguments are the declared ones",
                   [&] { return defaults.error().message; });
  accepted(*defaults, "that the defaults, spelled out, are accepted");
  if (entry.any_arguments) return findings.skip("it checks its arguments itself");
  for (const char* mode : {"maximize", "minimize"}) {
    json arguments = *defaults;
    arguments["optimize_mode"] = mode;
    accepted(arguments, "that it can be maximised and minimised");
  }
  json unknown = *defaults;
  unknown["optimise_mode"] = "x";
  findings.expect(!make(unknown).empty(), "an error for the unknown argument optimise_mode",
                  [] { return "it is accepted"; });
}

}  // namespace attune::conformance
