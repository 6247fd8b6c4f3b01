#include "manager/cli/commands/parameter_text.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "manager/cli/commands/shell_words.h"
#include "manager/experiment/yaml.h"

namespace attune {
namespace {

constexpr const char* kChosen = "_name";  // the key that names the chosen option of a nested choice

using Flat = std::vector<std::pair<std::string, json>>;

void flatten(const json& parameters, const std::string& prefix, Flat& flat) {
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_object() && value.contains(kChosen)) {
      flat.emplace_back(prefix + name, value[kChosen]);
      json inner = value;
      inner.erase(kChosen);
      flatten(inner, prefix + name + ".", flat);
    } else {
      flat.emplace_back(prefix + name, value);
    }
  }
}

Result<std::string> word_of(const std::string& name, const std::string& text) {
  if (text.find('\0') != std::string::npos)
    return fail(fmt::format(
        "parameter \"{}\" has a byte 0, which no shell can pass on; use --format json", name));
  return shell_word(text);
}

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : dump_json(value);
}

Result<std::string> arguments(const Flat& flat) {
  std::string line;
  for (const auto& [name, value] : flat)
    line += fmt::format("{}{} {}", line.empty() ? "" : " ", TRY(word_of(name, "--" + name)),
                        TRY(word_of(name, value_text(value))));
  return line + "\n";
}

std::string variable_name(const std::string& name) {
  std::string variable = "PARAM_";
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    variable += lower ? static_cast<char>(c - 'a' + 'A') : kept ? c : '_';
  }
  return variable;
}

Result<std::string> variables(const Flat& flat) {
  std::map<std::string, std::string> taken;
  std::string line = "export";
  for (const auto& [name, value] : flat) {
    const std::string variable = variable_name(name);
    if (const auto [other, fresh] = taken.emplace(variable, name); !fresh)
      return fail(fmt::format("parameters \"{}\" and \"{}\" would both be {}; use --format json",
                              other->second, name, variable));
    line += fmt::format(" {}={}", variable, TRY(word_of(name, value_text(value))));
  }
  return line + "\n";
}

}  // namespace

Result<std::string> parameter_text(const json& parameters, const std::string& format) {
  if (format == "json") return dump_json(parameters) + "\n";
  if (format == "yaml") return yaml_text(parameters);
  Flat flat;
  flatten(parameters, "", flat);
  return format == "args" ? arguments(flat) : variables(flat);
}

}  // namespace attune
