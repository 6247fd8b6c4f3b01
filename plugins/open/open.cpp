#include "plugins/open/open.h"

#include "os/clock.h"
#include "plugins/process/process_plugin.h"
#include "plugins/shared_object.h"

namespace attune {
namespace {

constexpr std::string_view kUsage =
    "a plug-in is a file \"NAME.so\", a command line, {\"file\": FILE} or {\"command\": [WORD, "
    "...], \"timeout\": SECONDS}";

// A program that speaks JSON on standard input and output.
Result<std::unique_ptr<Plugin>> open_command(const json& spec, const Log& log) {
  static const SystemClock clock;  // has no state
  auto read = read_process_spec(spec);
  if (!read) return fail("plug-in " + dump_json(spec) + ": " + read.error().message);
  return open_process_plugin(*std::move(read), clock, log);
}

}  // namespace

Result<std::unique_ptr<Plugin>> open_plugin(const json& spec, const Log& log) {
  if (spec.is_string()) {
    const auto& text = spec.get_ref<const std::string&>();
    if (text.ends_with(".so")) return open_shared_object(text);
    if (text.find_first_not_of(" \t") == std::string::npos) {
      return fail(std::string("an empty plug-in: ") + std::string(kUsage));
    }
    return open_command(spec, log);
  }
  if (spec.is_object() && spec.size() == 1 && spec.contains("file") && spec["file"].is_string()) {
    return open_shared_object(spec["file"].get<std::string>());
  }
  if (spec.is_object() && spec.contains("command")) return open_command(spec, log);
  return fail("plug-in " + dump_json(spec) + ": " + std::string(kUsage));
}

Result<json> plugin_spec(const std::string& text) {
  if (!text.starts_with("{")) return json(text);
  auto spec = parse_json(text);
  if (!spec) return fail("--plugin: " + spec.error().message);
  return spec;
}

}  // namespace attune
