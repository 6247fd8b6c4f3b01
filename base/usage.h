#pragma once
// What a program prints in place of running: help, version, manual page, or why its arguments are
// wrong. These are templates for the same reason as describe_command().
#include <sstream>
#include <string>

#include "base/command_description.h"
#include "base/man_page.h"

namespace attune {

struct Usage {
  int exit_code = 0;  // 0: to standard output; 2, wrong arguments: to standard error
  std::string text = {};
};

// `error`: what the parse() of CLI::App `app` has thrown. That may also be --help or --version.
template <class App, class Error>
Usage usage_after(const App& app, const Error& error, const std::string& program) {
  std::ostringstream text;
  if (app.exit(error, text, text) == 0) return {0, text.str()};
  return {2, program + ": " + error.what() + "; see --help\n"};
}

// The manual page. `program`: its name, whatever path it was called by; the others: see man_page().
template <class App>
Usage manual_page(const App& app, const std::string& program, const std::string& version,
                  const std::string& see_also) {
  DescribedCommand described = describe_command(app);
  described.name = program;
  return {0, man_page(described, version, see_also)};
}

}  // namespace attune
