#include "base/man_page.h"

#include <fmt/format.h>

namespace attune {
namespace {

// "attune runs experiments" -> "runs experiments", because the page prints the name before it.
std::string without_name(const std::string& description, const std::string& name) {
  if (!description.starts_with(name)) return description;
  const std::size_t begin = description.find_first_not_of(", ", name.size());
  return begin == std::string::npos ? description : description.substr(begin);
}

// Escapes text, so that the page shows it unchanged: a backslash begins a command, a plain '-' may
// become a hyphen that cannot be copied, and a line that begins with a point or a quote is a
// request.
std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

bool is_positional(const DescribedOption& option) { return option.names.empty(); }

// "FILE", "[EXPERIMENT]", "TRIAL..."
std::string argument_text(const DescribedOption& option) {
  const std::string name = italic(option.argument) + (option.many ? "..." : "");
  return option.required ? name : "[" + name + "]";
}

std::string option_text(const DescribedOption& option) {
  if (is_positional(option)) return italic(option.argument);
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  if (!option.takes_value || option.value.empty()) return text;
  std::string value = italic(option.value);
  for (std::size_t i = 0; (i = value.find('|', i)) != std::string::npos; ++i)
    value.insert(i + 1, "\\:");  // a line may end here
  return text + " " + value;
}

std::string options_text(const DescribedCommand& command) {
  std::string text;
  for (const DescribedOption& option : command.options)
    text += fmt::format(".TP\n{}\n{}\n", option_text(option), escaped(option.description));
  return text;
}

// Text whose lines are kept.
std::string verbatim(const std::string& text) {
  if (text.empty()) return "";
  std::string lines = escaped(text);
  while (lines.ends_with('\n')) lines.pop_back();
  return fmt::format(".PP\n.nf\n{}\n.fi\n", lines);
}

std::string command_text(const DescribedCommand& command, const std::string& before) {
  const std::string name = before + " " + command.name;
  std::string synopsis = bold(name);
  for (const DescribedOption& option : command.options)
    if (is_positional(option)) synopsis += " " + argument_text(option);
  std::string text = fmt::format(".SS {}\n{}\n{}{}", synopsis, escaped(command.description + "."),
                                 options_text(command), verbatim(command.footer));
  for (const DescribedCommand& sub : command.commands) text += command_text(sub, name);
  return text;
}

}  // namespace

std::string man_page(const DescribedCommand& program, const std::string& version,
                     const std::string& see_also) {
  const bool commands = !program.commands.empty();
  std::string title = program.name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}{} "
      "[\\fIoptions\\fR]\n.SH OPTIONS\n{}",
      title, program.name, version, program.name,
      escaped(without_name(program.description, program.name)), bold(program.name),
      commands ? " [\\fIcommand\\fR]" : "", options_text(program));
  if (commands) text += ".SH COMMANDS\n";
  for (const DescribedCommand& command : program.commands)
    text += command_text(command, program.name);
  if (!program.footer.empty()) text += ".SH NOTES\n" + verbatim(program.footer);
  return text + fmt::format(".SH SEE ALSO\n{}\n", escaped(see_also));
}

}  // namespace attune
