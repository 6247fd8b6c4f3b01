#include "plugins/process/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/members.h"
#include "plugins/process/command_words.h"

namespace attune {
namespace {

constexpr std::size_t kMostWords = 10'000;
constexpr double kLongest = 1e6;  // s

Result<std::vector<std::string>> read_words(const json& command) {
  if (command.is_string()) return command_words(command.get_ref<const std::string&>());
  if (!command.is_array() || command.empty() || command.size() > kMostWords)
    return fail("must be a command line or a list of words");
  std::vector<std::string> words;
  for (const json& word : command) {
    if (!word.is_string())
      return fail(fmt::format("each word must be a text, not {}", json_type_name(word)));
    words.push_back(word.get<std::string>());
  }
  return words;
}

bool has_null_byte(const std::string& text) { return text.find('\0') != std::string::npos; }

Result<std::vector<std::string>> read_command(const json& command) {
  std::vector<std::string> words = TRY(read_words(command));
  if (words.front().empty()) return fail("the name of the program is empty");
  if (std::ranges::any_of(words, has_null_byte)) return fail("a word has a null byte");
  return words;
}

Result<std::pair<std::string, std::string>> read_variable(const std::string& name,
                                                          const json& value) {
  const std::string place = "environment." + name;
  if (name.empty() || name.find('=') != std::string::npos || has_null_byte(name))
    return fail_at(place, "this cannot be the name of a variable");
  if (!value.is_string() || has_null_byte(value.get_ref<const std::string&>()))
    return fail_at(place, "must be a text");
  return std::pair(name, value.get<std::string>());
}

}  // namespace

std::string command_text(const ProcessPluginSpec& spec) {
  return fmt::format("{}", fmt::join(spec.command, " "));
}

Result<ProcessPluginSpec> read_process_spec(const json& spec) {
  ProcessPluginSpec read;
  const json object = spec.is_object() ? spec : json{{"command", spec}};
  const Members members =
      TRY(Members::of(object, "plug-in", {"command", "timeout", "environment", "directory"}));
  auto command = read_command(members.get("command"));
  if (!command) return fail_at("command", command.error().message);
  read.command = *std::move(command);
  if (const auto timeout = TRY(members.number("timeout")); timeout) {
    if (*timeout <= 0 || *timeout > kLongest)
      return fail_at("timeout", fmt::format("must be above 0 and at most {} seconds", kLongest));
    read.timeout = *timeout;
  }
  const json& environment = members.get("environment");
  if (!environment.is_null() && !environment.is_object())
    return fail_at("environment", "must be an object of texts");
  for (const auto& [name, value] : environment.items())
    read.environment.push_back(TRY(read_variable(name, value)));
  if (members.has("directory")) {
    const std::string directory = TRY(members.text("directory"));
    if (has_null_byte(directory)) return fail_at("directory", "has a null byte");
    read.directory = directory;
  }
  return read;
}

}  // namespace attune
