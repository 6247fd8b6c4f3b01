#include "plugins/open.h"

#include "plugins/shared_object.h"

namespace attune {
namespace {

constexpr std::string_view kUsage =
    "a plug-in is a file \"NAME.so\", a command line, {\"file\": FILE} or {\"command\": [WORD, "
    "...], \"timeout\": SECONDS}";

// A program that speaks JSON on standard input and output.
Result<std::unique_ptr<Plugin>> open_command(const json& spec) {
  return fail("plug-in " + dump_json(spec) +
              ": this attuned loads shared objects (NAME.so) only, no programs");
}

}  // namespace

Result<std::unique_ptr<Plugin>> open_plugin(const json& spec) {
  if (spec.is_string()) {
    const auto& text = spec.get_ref<const std::string&>();
    if (text.ends_with(".so")) return open_shared_object(text);
    if (text.find_first_not_of(" \t") == std::string::npos) {
      return fail(std::string("an empty plug-in: ") + std::string(kUsage));
    }
    return open_command(spec);
  }
  if (spec.is_object() && spec.size() == 1 && spec.contains("file") && spec["file"].is_string()) {
    return open_shared_object(spec["file"].get<std::string>());
  }
  if (spec.is_object() && spec.contains("command")) return open_command(spec);
  return fail("plug-in " + dump_json(spec) + ": " + std::string(kUsage));
}

Result<json> plugin_spec(const std::string& text) {
  if (!text.starts_with("{")) return json(text);
  auto spec = parse_json(text);
  if (!spec) return fail("--plugin: " + spec.error().message);
  return spec;
}

}  // namespace attune
