#include "daemon/check_plugin.h"

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "conformance/run.h"
#include "dispatcher/sink.h"
#include "plugins/open/open.h"

namespace attune {
namespace {

struct Opened {
  // Only those of the plug-ins, so that a name that a built-in one has is no obstacle.
  TunerRegistry tuners;
  AssessorRegistry assessors;
  conformance::Run run;
};

Result<Opened> open_all(const CheckPlugin& command) {
  Opened opened;
  opened.run.quick = command.quick;
  if (!command.class_args.empty()) {
    auto arguments = parse_json(command.class_args);
    if (!arguments) return fail_at("--classArgs", arguments.error().message);
    opened.run.arguments = *std::move(arguments);
  }
  // What the guard mends by a new start it says here.
  const Log log = Log::to_stderr(LogLevel::warning).named("plugin");
  for (const std::string& text : command.plugins) {
    const json spec = TRY(plugin_spec(text));
    std::shared_ptr<Plugin> plugin = TRY(open_plugin(spec, log));
    for (const auto& description : plugin->algorithms()) {
      opened.run.names.push_back(description.name);
    }
    TRY(add_plugin(std::move(plugin), opened.tuners, opened.assessors, log));
  }
  return opened;
}

}  // namespace

int run_check_plugin(const CheckPlugin& command, std::FILE* out, std::FILE* errors) {
  const auto opened = open_all(command);
  if (!opened) {
    std::fputs(("attuned: " + terminal_line(opened.error().message) + "\n").c_str(), errors);
    return kExitConfiguration;
  }
  return run_conformance(opened->tuners, opened->assessors, opened->run, out);
}

}  // namespace attune
