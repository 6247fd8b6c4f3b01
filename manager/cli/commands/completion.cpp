#include "manager/cli/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace attune {
namespace {

bool is_choice(const DescribedOption& option) {
  return option.value.find('|') != std::string::npos;
}

// The argument of `attune completion-words` for this option; empty: the option has no such words.
std::string asked_words(const DescribedOption& option) {
  if (option.value == "EXPERIMENT") return "experiments";
  return option.value == "TRIAL" ? "trials" : "";
}

std::string words_of(std::string choices) {
  std::ranges::replace(choices, '|', ' ');
  return choices;
}

// Escapes a description for single quotes. For zsh, colons and brackets are escaped, too.
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

// The bash code that completes a value.
std::string bash_value(const DescribedOption& option) {
  if (is_choice(option))
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", words_of(option.value));
  if (option.value == "DIR") return "COMPREPLY=($(compgen -d -- \"$cur\"))";
  if (option.value == "FILE") return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  const std::string asked = asked_words(option);
  return asked.empty() ? "COMPREPLY=()" : "_attune_words " + asked;
}

// Without compgen -W, which expands its words: it would execute a $(command) in the name of an
// experiment.
constexpr const char* kBashWords =
    "_attune_words() {\n"
    "  local more=() i word\n"
    "  COMPREPLY=()\n"
    "  for ((i = 2; i < COMP_CWORD - 1; ++i)); do\n"
    "    case ${COMP_WORDS[i]} in\n"
    "      --dir | -e | --experiment) more+=(\"${COMP_WORDS[i]}\" \"${COMP_WORDS[i+1]}\") ;;\n"
    "    esac\n"
    "  done\n"
    "  while IFS= read -r word; do\n"
    "    [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
    "  done < <(\"${COMP_WORDS[0]}\" completion-words \"$1\" \"${more[@]}\" 2>/dev/null)\n"
    "}\n";

std::string bash_script(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> names;
  std::string values, words;
  for (const DescribedCommand& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    std::string positional = "COMPREPLY=()";
    for (const DescribedOption& option : command.options) {
      if (option.names.empty()) {
        positional = bash_value(option);
        continue;
      }
      flags.insert(flags.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("\"{} {}\"", command.name, name));
      values +=
          fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), bash_value(option));
    }
    words += fmt::format(
        "    {}) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n"
        "       else {}; fi ;;\n",
        command.name, fmt::join(flags, " "), positional);
  }
  return fmt::format(
      "# bash: source <(attune completion bash)\n"
      "{}"
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
      kBashWords, fmt::join(names, " "), values, words);
}

std::string zsh_value(const DescribedOption& option) {
  if (is_choice(option)) return fmt::format(":value:({})", words_of(option.value));
  if (option.value == "DIR") return ":folder:_files -/";
  if (option.value == "FILE") return ":file:_files";
  // The blank before the function keeps _arguments from passing it further arguments.
  if (!asked_words(option).empty()) return ":word: _attune_words " + asked_words(option);
  return fmt::format(":{}:", quoted(option.value.empty() ? "value" : option.value, true));
}

constexpr const char* kZshWords =
    "_attune_words() {\n"
    "  local -a more found\n"
    "  local i\n"
    "  for ((i = 2; i < CURRENT - 1; ++i)); do\n"
    "    case $words[i] in\n"
    "      --dir|-e|--experiment) more+=(\"$words[i]\" \"$words[i+1]\") ;;\n"
    "    esac\n"
    "  done\n"
    "  found=(\"${(@f)$(attune completion-words $1 $more 2>/dev/null)}\")\n"
    "  compadd -a found\n"
    "}\n";

std::string zsh_script(const std::vector<DescribedCommand>& commands) {
  std::string list, cases;
  for (const DescribedCommand& command : commands) {
    list += fmt::format("    '{}:{}'\n", command.name, quoted(command.description, true));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const DescribedOption& option : command.options) {
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
      "{}"
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
      // If zsh loads the script from $fpath as the file _attune, it runs the script as the body of
      // the function _attune. Else the script is sourced, and registers the function.
      "if [[ $funcstack[1] == _attune ]]; then _attune \"$@\"; else compdef _attune attune; fi\n",
      kZshWords, list, cases);
}

std::string fish_value(const DescribedOption& option) {
  if (is_choice(option)) return fmt::format("-x -a '{}'", words_of(option.value));
  if (option.value == "DIR") return "-x -a '(__fish_complete_directories)'";
  if (!asked_words(option).empty())
    return fmt::format("-x -a '(__attune_words {})'", asked_words(option));
  return option.value == "FILE" ? "-r -F" : "-x";
}

constexpr const char* kFishWords =
    "function __attune_words\n"
    "  set -l line (commandline -opc)\n"
    "  set -l more\n"
    "  for i in (seq 2 (count $line))\n"
    "    if contains -- $line[$i] --dir -e --experiment; and test $i -lt (count $line)\n"
    "      set -a more $line[$i] $line[(math $i + 1)]\n"
    "    end\n"
    "  end\n"
    "  attune completion-words $argv[1] $more 2>/dev/null\n"
    "end\n";

std::string fish_script(const std::vector<DescribedCommand>& commands) {
  std::string text =
      fmt::format("# fish: attune completion fish | source\n{}complete -c attune -f\n", kFishWords);
  for (const DescribedCommand& command : commands) {
    text += fmt::format("complete -c attune -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        quoted(command.description, false));
    for (const DescribedOption& option : command.options) {
      std::string line =
          fmt::format("complete -c attune -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                       : fmt::format(" -s {}", name.substr(1));
      }
      if (option.names.empty()) {
        if (option.value == "FILE") text += line + " -F\n";
        if (!asked_words(option).empty())
          text += fmt::format("{} -a '(__attune_words {})'\n", line, asked_words(option));
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
                              const std::vector<DescribedCommand>& commands) {
  if (shell == "zsh") return zsh_script(commands);
  return shell == "fish" ? fish_script(commands) : bash_script(commands);
}

}  // namespace attune
