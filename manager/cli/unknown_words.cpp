// Finds unknown commands and options. CLI11 alone would only say that it did not expect the
// command, would not report an option after a missing argument at all, and would not name similar
// words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/arguments.h"
#include "manager/cli/options_parser.h"

namespace attune {
namespace {

std::vector<std::string> option_names(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps) {
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  return names;
}

// The known word that is nearest to `word`, else one that begins with it; empty: none.
std::string near_word(const std::string& word, const std::vector<std::string>& known) {
  std::string near = nearest_name(word, known);
  for (const std::string& name : known)
    if (near.empty() && name.starts_with(word)) near = name;
  return near;
}

// The nearest long option. Compared without dashes, which all have, and which would make all names
// look similar.
std::string near_option(const std::string& word, const std::vector<std::string>& known) {
  const auto bare = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  std::vector<std::string> names;
  for (const std::string& name : known)
    if (name.starts_with("--")) names.push_back(bare(name));
  const std::string near = bare(word).empty() ? "" : near_word(bare(word), names);
  return near.empty() ? "" : "--" + near;
}

// Whether the word looks like an option. Negative numbers are arguments.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' &&
         std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

const CLI::Option* find_option(const std::vector<const CLI::App*>& apps, const std::string& name) {
  for (const CLI::App* app : apps) {
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

const CLI::App* find_command(const CLI::App* app, const std::string& name) {
  for (const CLI::App* sub : app->get_subcommands({})) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

CommandLineEnd unknown_option(const std::vector<const CLI::App*>& apps, const std::string& name) {
  std::string command = "attune";
  for (const CLI::App* app : apps)
    if (app->get_parent() != nullptr) command += " " + app->get_name();
  const std::vector<std::string> known = option_names(apps);
  const std::string near = near_option(name, known);
  return {kExitUsage,
          fmt::format("{0}: unknown option '{1}'{2}\nKnown: {3}{4}\n", command, name,
                      near.empty() ? "" : ", did you mean '" + near + "'?", fmt::join(known, ", "),
                      apps.front()->get_parent() == nullptr
                          ? "; options of a command stand behind it"
                          : "; " + command + " --help explains them")};
}

}  // namespace

std::optional<CommandLineEnd> unknown_command(const CLI::App& app, int argc,
                                              const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-' || find_command(&app, argv[1]) != nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  const std::string near = near_word(argv[1], names);
  return CommandLineEnd{
      kExitUsage,
      fmt::format("attune: unknown command '{}'{}\nKnown: {}\n", argv[1],
                  near.empty() ? "" : ", did you mean '" + near + "'?", fmt::join(names, ", "))};
}

std::optional<CommandLineEnd> unknown_option(const CLI::App& app, int argc,
                                             const char* const* argv) {
  std::vector<const CLI::App*> apps = {&app};  // the commands whose options are allowed here
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return std::nullopt;
    if (!is_option(word)) {
      const CLI::App* sub = find_command(apps.back(), word);
      if (sub != nullptr && !sub->get_fallthrough()) apps.clear();
      if (sub != nullptr) apps.push_back(sub);
      continue;
    }
    // -k5 means -k 5, and -fk5 means -f -k 5. Only the first letter is checked.
    const bool is_long = word[1] == '-';
    const std::size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
    const CLI::Option* option = find_option(apps, word.substr(0, end));
    if (option == nullptr) return unknown_option(apps, is_long ? word.substr(0, end) : word);
    if (option->get_items_expected_min() > 0 && end == word.size()) ++i;  // skips its value
  }
  return std::nullopt;
}

}  // namespace attune
