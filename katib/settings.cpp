#include "katib/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace attune::katib {
namespace {

constexpr std::string_view kPrefix = "attune-";
// PBT hands files from trial to trial; Batch takes its points from a search space of its own form.
constexpr std::array<std::string_view, 2> kNotHere = {"PBT", "Batch"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Only letters and digits, in lower case: "CMA-ES" and "cmaes" are the same.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '-' && c != '_') result += lower(c);
  }
  return result;
}

bool serves(const TunerEntry& entry) {
  return !entry.wants_reports && std::ranges::find(kNotHere, entry.name) == kNotHere.end();
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 100)); }

Result<json> value_of(const std::string& where, const Argument* argument, const std::string& text) {
  using Type = Argument::Type;
  // What nobody knows is refused later, with the names that are known.
  if (!argument) return json(text);
  if (argument->type == Type::text || argument->type == Type::choice) return json(text);
  if (text == "True" || text == "False") return json(text == "True");
  if (text == "None") return json(nullptr);
  auto value = parse_json(text);
  if (!value) return fail_at(where, fmt::format("\"{}\" is not understood", shown(text)));
  return value;
}

const Argument* find(const std::vector<Argument>& declared, std::string_view name) {
  const auto found = std::ranges::find(declared, name, &Argument::name);
  return found == declared.end() ? nullptr : &*found;
}

}  // namespace

std::string algorithm_name(std::string_view name) {
  std::string result(kPrefix);
  for (const char c : name) result += c == '_' ? '-' : lower(c);
  return result;
}

std::vector<std::string> accepted_algorithms(const TunerRegistry& tuners) {
  std::vector<std::string> names;
  for (const TunerEntry& entry : tuners.entries()) {
    if (serves(entry)) names.push_back(algorithm_name(entry.name));
  }
  return names;
}

Result<const TunerEntry*> find_tuner(const TunerRegistry& tuners, std::string_view algorithm) {
  std::string name = plain(algorithm);
  if (name.starts_with("attune")) name.erase(0, 6);
  std::vector<const TunerEntry*> begun;
  for (const TunerEntry& entry : tuners.entries()) {
    std::vector<std::string> names = {plain(entry.name)};
    for (const std::string& alias : entry.aliases) names.push_back(plain(alias));
    if (std::ranges::find(names, name) != names.end()) {
      if (serves(entry)) return &entry;
      return fail(fmt::format(
          "algorithm \"{}\": {} needs reports of running trials, or pauses and checkpoints, which "
          "Katib does not offer. Accepted: {}",
          shown(algorithm), entry.name, fmt::join(accepted_algorithms(tuners), ", ")));
    }
    if (!name.empty() && serves(entry) && names.front().starts_with(name)) begun.push_back(&entry);
  }
  if (begun.size() == 1) return begun.front();
  return fail(fmt::format("unknown algorithm \"{}\". Accepted: {}", shown(algorithm),
                          fmt::join(accepted_algorithms(tuners), ", ")));
}

Result<json> arguments_of(std::string_view owner, const std::vector<Argument>& declared,
                          const std::vector<Setting>& settings) {
  json arguments = json::object();
  std::set<std::string> given;
  for (const auto& [setting, text] : settings) {
    const bool is_seed = setting == "random_state" && !find(declared, setting);
    const std::string name = is_seed ? "seed" : setting;
    const std::string where = fmt::format("{}, setting {}", owner, shown(setting));
    if (!given.insert(name).second) return fail_at(where, "given twice");
    const auto dot = name.find('.');
    const std::string top = name.substr(0, dot);
    const Argument* argument = find(declared, top);
    if (dot == name.npos || !argument || argument->type != Argument::Type::object) {
      arguments[name] = TRY(value_of(where, argument, text));
      continue;
    }
    json& object = arguments[top];
    if (object.is_null()) object = json::object();
    if (!object.is_object()) return fail_at(where, top + " is given, too, and is no object");
    const std::string member = name.substr(dot + 1);
    object[member] = TRY(value_of(where, find(argument->members, member), text));
  }
  std::vector<ArgumentFlaw> flaws;
  resolve_arguments(declared, arguments, flaws);
  if (flaws.empty()) return arguments;
  const ArgumentFlaw& flaw = flaws.front();
  return fail(fmt::format("{}{}{}: {}", owner, flaw.path.empty() ? "" : ", setting ",
                          fmt::join(flaw.path, "."), flaw.message));
}

}  // namespace attune::katib
