// Any commands, one a line (two letters of code, then the payload): no trial is given out twice, no
// job is killed twice, and the state that is saved at the end can be loaded.
#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/support/stepped.h"

using namespace attune;

static std::unique_ptr<Stepped> start() {
  DispatcherOptions options;
  options.capabilities.sync = true;
  options.include_intermediate = true;
  options.max_request = 20;
  return Stepped::make("TPE", {{"tpe_args", {{"n_startup_jobs", 3}}}}, "Medianstop", json::object(),
                       options);
}

FUZZ_TARGET(input) {
  const auto daemon = start();
  std::set<std::string> given, killed;
  while (!input.empty() && daemon->exit_code == kExitOk && given.size() < 200) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.size() < 2) continue;
    daemon->send(std::string(line.substr(0, 2)), std::string(line.substr(2)));
    for (const Frame& frame : daemon->take()) {
      if (frame.code == "TR") {
        const json trial = parse_json(frame.payload).value();
        ATTUNE_CHECK(given.insert(dump_json(trial.at("parameter_id"))).second);
      }
      if (frame.code == "KI") ATTUNE_CHECK(killed.insert(frame.payload).second);
    }
  }
  if (daemon->exit_code != kExitOk) return;
  const json state = daemon->save();
  if (!state.is_null()) ATTUNE_CHECK(start()->load(parse_json(dump_json(state)).value()));
}
