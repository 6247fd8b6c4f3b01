#include "runner/commands/completion.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {
namespace {

bool is_choice(const CompletedOption& option) {
  return option.value.find('|') != std::string::npos;
}

std::string words_of(std::string choices) {
  std::ranges::replace(choices, '|', ' ');
  return choices;
}

// Descriptions stand in single quotes; colons and brackets mean something to zsh.
std::string quoted(const std::string& text, bool zsh) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (zsh && (c == ':' || c == '[' || c == ']')) {
      out += std::string("\\") + c;
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// How bash completes a value.
std::string bash_value(const CompletedOption& option) {
  if (is_choice(option))
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", words_of(option.value));
  if (option.value == "DIR") return "COMPREPLY=($(compgen -d -- \"$cur\"))";
  if (option.value == "FILE") return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  return "COMPREPLY=()";
}

std::string bash_script(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  std::string values, words;
  for (const CompletedCommand& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    std::string positional = "COMPREPLY=()";
    for (const CompletedOption& option : command.options) {
      if (option.names.empty()) {
        positional = bash_value(option);
        continue;
      }
      flags.insert(flags.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("\"{} {}\"", command.name, name));
      values += fmt::format("    {}) {}; return ;;\n", joined(patterns, "|"), bash_value(option));
    }
    words += fmt::format(
        "    {}) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n"
        "       else {}; fi ;;\n",
        command.name, joined(flags, " "), positional);
  }
  return fmt::format(
      "# bash: source <(attune completion bash)\n"
      "_attune() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local command=${{COMP_WORDS[1]}}\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command $prev\" in\n{}  esac\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _attune attune\n",
      joined(names, " "), values, words);
}

std::string zsh_value(const CompletedOption& option) {
  if (is_choice(option)) return fmt::format(":value:({})", words_of(option.value));
  if (option.value == "DIR") return ":folder:_files -/";
  if (option.value == "FILE") return ":file:_files";
  return fmt::format(":{}:", quoted(option.value.empty() ? "value" : option.value, true));
}

std::string zsh_script(const std::vector<CompletedCommand>& commands) {
  std::string list, cases;
  for (const CompletedCommand& command : commands) {
    list += fmt::format("    '{}:{}'\n", command.name, quoted(command.description, true));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const CompletedOption& option : command.options) {
      if (option.names.empty()) {
        cases += fmt::format(" \\\n      '*{}'", zsh_value(option));
        continue;
      }
      for (const std::string& name : option.names) {
        cases += fmt::format(" \\\n      '{}[{}]{}'", name, quoted(option.description, true),
                             option.takes_value ? zsh_value(option) : "");
      }
    }
    cases += " ;;\n";
  }
  return fmt::format(
      "#compdef attune\n"
      "# zsh: source <(attune completion zsh)\n"
      "_attune() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "compdef _attune attune\n",
      list, cases);
}

std::string fish_value(const CompletedOption& option) {
  if (is_choice(option)) return fmt::format("-x -a '{}'", words_of(option.value));
  if (option.value == "DIR") return "-x -a '(__fish_complete_directories)'";
  return option.value == "FILE" ? "-r -F" : "-x";
}

std::string fish_script(const std::vector<CompletedCommand>& commands) {
  std::string text = "# fish: attune completion fish | source\ncomplete -c attune -f\n";
  for (const CompletedCommand& command : commands) {
    text += fmt::format("complete -c attune -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        quoted(command.description, false));
    for (const CompletedOption& option : command.options) {
      std::string line =
          fmt::format("complete -c attune -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                       : fmt::format(" -s {}", name.substr(1));
      }
      if (option.names.empty()) {
        if (option.value == "FILE") text += line + " -F\n";
        continue;
      }
      if (option.takes_value) line += " " + fish_value(option);
      text += line + fmt::format(" -d '{}'\n", quoted(option.description, false));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell,
                              const std::vector<CompletedCommand>& commands) {
  if (shell == "zsh") return zsh_script(commands);
  return shell == "fish" ? fish_script(commands) : bash_script(commands);
}

}  // namespace attune
