#include "plugins/abi_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/names.h"
#include "plugins/description.h"

namespace attune {
namespace {

constexpr std::size_t kMostText = 10'000;  // bytes: no text without its end is read for ever

Result<std::string> read_text(const char* what, const char* given) {
  if (!given) return fail(fmt::format("{} is missing", what));
  std::string value(given, ::strnlen(given, kMostText));
  if (!is_utf8(value)) return fail(fmt::format("{} is not UTF-8", what));
  return value;
}

Result<std::string> read_name(const char* what, const char* given) {
  std::string name = TRY(read_text(what, given));
  TRY(check_name(what, name));
  return name;
}

// Of help, which may be missing.
Result<std::string> read_line(const char* what, const char* given) {
  if (!given || *given == '\0') return std::string();
  std::string line = TRY(read_text(what, given));
  TRY(check_printable(what, line));
  return line;
}

std::optional<double> bound(double x) { return std::isnan(x) ? std::nullopt : std::optional(x); }

Result<Argument> argument_of(const attune_argument_declaration& given) {
  Argument argument{.name = TRY(read_name("the name of an argument", given.name))};
  switch (given.type) {
    case ATTUNE_ARGUMENT_BOOLEAN:
      argument.type = Argument::Type::boolean;
      break;
    case ATTUNE_ARGUMENT_INTEGER:
      argument.type = Argument::Type::integer;
      break;
    case ATTUNE_ARGUMENT_NUMBER:
      argument.type = Argument::Type::number;
      break;
    case ATTUNE_ARGUMENT_TEXT:
      argument.type = Argument::Type::text;
      break;
    case ATTUNE_ARGUMENT_CHOICE:
      argument.type = Argument::Type::choice;
      break;
    default:
      return fail(fmt::format("the type {} of an argument is unknown", given.type));
  }
  argument.help = TRY(read_line("its help", given.help));
  argument.fallback = TRY(parse_json(TRY(read_text("its default", given.fallback))));
  argument.low = bound(given.low);
  argument.high = bound(given.high);
  for (const char* const* choice = given.choices; choice && *choice; ++choice) {
    argument.choices.push_back(TRY(read_text("a choice", *choice)));
  }
  return argument;
}

Result<void> check_functions(const attune_algorithm& given) {
  const auto need = [](bool there, const char* name) -> Result<void> {
    if (!there) return fail(fmt::format("its function {} is missing", name));
    return {};
  };
  TRY(need(given.create, "create"));
  TRY(need(given.destroy, "destroy"));
  if ((given.tuner == nullptr) == (given.assessor == nullptr)) {
    return fail("it must be either a tuner or an assessor");
  }
  if (given.tuner) {
    TRY(need(given.tuner->set_space, "set_space"));
    TRY(need(given.tuner->ask, "ask"));
    TRY(need(given.tuner->tell, "tell"));
    TRY(need(given.tuner->adopt, "adopt"));
    if (given.wants_reports) TRY(need(given.tuner->report, "report"));
  } else {
    TRY(need(given.assessor->assess, "assess"));
  }
  if (given.save) TRY(need(given.load, "load"));
  return {};
}

Result<std::vector<Argument>> arguments_of(const attune_algorithm& given) {
  if (given.argument_count > 0 && !given.arguments) return fail("its arguments are missing");
  std::vector<Argument> arguments;
  json defaults = json::object();
  for (std::size_t i = 0; i < given.argument_count; ++i) {
    auto argument = argument_of(given.arguments[i]);
    if (!argument) return fail(fmt::format("argument {}: {}", i + 1, argument.error().message));
    if (is_common_argument(argument->name) || defaults.contains(argument->name)) {
      return fail(fmt::format("argument {}: the name {} is taken", i + 1, argument->name));
    }
    defaults[argument->name] = argument->fallback;
    arguments.push_back(*std::move(argument));
  }
  TRY(resolve_arguments("its defaults", arguments, defaults));
  return arguments;
}

Result<PluginDescription> description_of(const attune_algorithm& given) {
  TRY(check_functions(given));
  PluginDescription description{.kind = given.tuner ? PluginDescription::Kind::tuner
                                                    : PluginDescription::Kind::assessor};
  description.name = TRY(read_name("its name", given.name));
  description.summary = TRY(read_line("its summary", given.summary));
  description.arguments = TRY(arguments_of(given));
  description.maximizes = given.maximizes != 0;
  description.wants_reports = given.wants_reports != 0;
  description.saves = given.save != nullptr;
  return description;
}

}  // namespace

Result<std::vector<PluginDescription>> descriptions_of(const attune_plugin& plugin) {
  if (plugin.count > 0 && !plugin.algorithms) return fail("its algorithms are missing");
  std::vector<PluginDescription> descriptions;
  for (std::size_t i = 0; i < plugin.count; ++i) {
    auto one = description_of(plugin.algorithms[i]);
    if (!one) return fail(fmt::format("algorithm {}: {}", i + 1, one.error().message));
    descriptions.push_back(*std::move(one));
  }
  return descriptions;
}

}  // namespace attune
