#pragma once
// Describes the options and commands of a program for completion scripts and man pages. It is read
// from the parser itself, so that they cannot differ from what the program accepts.
#include <string>
#include <vector>

namespace attune {

struct DescribedOption {
  std::vector<std::string> names;  // "--dir", "-e"; none: a positional argument
  std::string argument;            // the name of a positional argument
  std::string description;
  bool takes_value = false;
  bool required = false, many = false;
  std::string value;  // "FILE", "DIR", "EXPERIMENT"; "csv|jsonl": one of these words
};
struct DescribedCommand {
  std::string name;
  std::string description;
  std::string group;   // under which heading help shows it
  std::string footer;  // examples
  std::vector<DescribedOption> options;
  std::vector<DescribedCommand> commands;
};

// Reads the description from a CLI::App. It is a template, so that only those who parse include the
// header of CLI::App. Options and commands without a group are hidden from help, and from the
// description.
template <class App>
DescribedCommand describe_command(const App& app) {
  DescribedCommand command;
  command.name = app.get_name();
  command.description = app.get_description();
  command.group = app.get_group();
  command.footer = app.get_footer();
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    DescribedOption entry;
    entry.description = option->get_description();
    entry.takes_value = option->get_items_expected_max() > 0;
    entry.required = option->get_required();
    entry.many = option->get_items_expected_max() > 1;
    entry.value = option->get_type_name();
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    if (entry.names.empty()) entry.argument = option->get_name(true);
    command.options.push_back(std::move(entry));
  }
  for (const App* sub : app.get_subcommands({})) {
    if (!sub->get_group().empty()) command.commands.push_back(describe_command(*sub));
  }
  return command;
}

}  // namespace attune
