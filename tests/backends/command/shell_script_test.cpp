#include "backends/command/shell_script.h"

#include <stdio.h>

#include <catch2/catch.hpp>
#include <memory>

#include "backends/command/trial_command.h"
#include "base/json.h"

namespace attune::shell_script_test {

// One word of every kind that a shell would do something to.
const std::vector<std::string> kNasty = {"a b; touch hacked",
                                         "$(touch hacked)`touch hacked`${HOME}$HOME",
                                         "it's \"quoted\" \\ 'twice'",
                                         "line\nbreak\ttab",
                                         "* ? [a] ~ {a,b} !x # & | < > ( )",
                                         "-n",
                                         "",
                                         " ",
                                         "\xc3\xa4\xff"};

// What a shell prints for a command, its placeholders x and y filled in.
std::string output_of(const std::string& command, const std::string& x, const std::string& y = "") {
  const json payload = {{"parameter_id", 0}, {"parameters", {{"x", x}, {"y", y}}}};
  auto made = trial_command(command, ParameterNames({"x", "y"}), TrialArguments::none,
                            payload.dump(-1, ' ', false, json::error_handler_t::ignore), "/f");
  if (!made) return "error: " + made.error().message;
  // popen() has a shell in between: each word goes there in single quotes.
  std::string line;
  for (std::string word : made->arguments) {
    for (std::size_t at = 0; (at = word.find('\'', at)) != std::string::npos; at += 4)
      word.replace(at, 1, "'\\''");
    line += "'" + word + "' ";
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
  REQUIRE(pipe != nullptr);
  std::string output;
  char buffer[256];
  while (const std::size_t size = ::fread(buffer, 1, sizeof buffer, pipe.get()))
    output.append(buffer, size);
  return output;
}

TEST_CASE("shell script: a value is one word in every quoting context") {
  const auto [command, before, after] = GENERATE(table<std::string, std::string, std::string>({
      {"printf '<%s>' {x}", "<", ">"},
      {"printf '<%s>' a{x}b", "<a", "b>"},
      {"printf '<%s>' \"a {x} b\"", "<a ", " b>"},
      {"printf '<%s>' 'a {x} b'", "<a ", " b>"},
      {"printf '<%s>' $'a\\t{x} b'", "<a\t", " b>"},
      {"printf '<%s>' \"$(printf 'in %s.' {x})\"", "<in ", ".>"},
      {"printf '<%s>' \"$(printf 'in %s.' \"{x}\")\"", "<in ", ".>"},
      {"printf '<%s>' \"`printf 'in %s.' {x}`\"", "<in ", ".>"},
      {"f() { printf '<%s>' {x}; }; f other", "<", ">"},
      {"set -- other; printf '<%s>' {x}", "<", ">"},
      {"# it's \"a\" {x}\nprintf '<%s>' {x} # {x}", "<", ">"},
      {"(printf '<%s>' {x}) | cat", "<", ">"},
      {"v={x}; printf '<%s>' \"$v\"", "<", ">"},
      {"printf '<%s>' \"${HOME:+{x}}\"", "<", ">"},
      {"case a in a) printf '<%s>' {x};; esac", "<", ">"},
      {"cat <<< \"\"{x} > /dev/null; printf '<%s>' {x}", "<", ">"},
      {"printf '%s' \\{x} {{x}}; printf '<%s>' {x}", "{x}{x}<", ">"},
  }));
  for (const std::string& value : kNasty) {
    INFO(command << " with " << value);
    const std::string kept =
        json::parse(json(value).dump(-1, ' ', false, json::error_handler_t::ignore));
    CHECK(output_of(command, value) == before + kept + after);
  }
}

TEST_CASE("shell script: two values, each in its place, also many times") {
  CHECK(output_of("printf '<%s>' {y} {x} '{y}{x}'", "1 2", "3 4") == "<3 4><1 2><3 41 2>");
  std::vector<std::string> names;
  std::string command;
  for (int i = 0; i < 12; ++i) {
    names.push_back("p" + std::to_string(i));
    command += " {" + names.back() + "}";
  }
  const auto script = shell_script("run" + command, ParameterNames(names));
  REQUIRE(script.has_value());
  CHECK(script->parameters == names);
  CHECK(script->text.find("__attune_11=${12}") != std::string::npos);
}

TEST_CASE("shell script: without placeholders a command stays what it is") {
  const auto script = shell_script("cat <<EOF\n${x} $((1 + 2))\nEOF", ParameterNames({"x"}));
  REQUIRE(script.has_value());
  CHECK(script->text == "cat <<EOF\n${x} $((1 + 2))\nEOF");
  CHECK(script->parameters.empty());
}

TEST_CASE("shell script: where a value would be read as code it is refused") {
  const ParameterNames names({"x"});
  CHECK(shell_script("cat <<EOF\n{x}\nEOF", names).error().message.find("templates") !=
        std::string::npos);
  CHECK(shell_script("run $(( {x} + 1 ))", names).error().message.find("arithmetic") !=
        std::string::npos);
  CHECK(shell_script("(( a = {x} ))", names).error().message.find("arithmetic") !=
        std::string::npos);
  CHECK(shell_script("run $(( 1 << 2 )) {x}", names).has_value());
}

TEST_CASE("shell script: whatever the shell would evaluate as arithmetic is refused") {
  const std::string command = GENERATE(
      "[[ {x} -gt 3 ]] && run", "[[ 3 -le {x} ]]", "if [[ a && \"{x}\" -eq 3 ]]; then run; fi",
      "[[ -v a[{x}] ]]", "run $[ {x} + 1 ]", "run $[ [1] + {x} ]", "let y={x}",
      "if let {x}; then a; fi", "a=1 let 'y={x}'", "a; \"let\" y={x}", "s=abc; echo ${s:{x}}",
      "echo \"${s:1:{x}}\"", "echo ${arr[{x}]}", "echo \"${#arr[{x}]}\"", "echo ${s:$(echo {x})}",
      "declare -i z={x}", "declare -g -i z={x}", "f() { local -i z={x}; }", "typeset -xi z={x}",
      "arr[{x}]=3", "echo $(( $(echo {x}) ))", "a=([{x}]=1)", "a=(b [\"{x}\"]=1)",
      "declare -A a=(b\n[{x}]=1)", "> out let y={x}", "2>&1 let y={x}", "declare -n r={x}");
  CAPTURE(command);
  const auto script = shell_script(command, ParameterNames({"x"}));
  REQUIRE_FALSE(script.has_value());
  CHECK(script.error().message.starts_with("{x} stands in an arithmetic expression"));
}

TEST_CASE("shell script: a name of a variable and a trap are refused") {
  const std::string command =
      GENERATE("test -v {x} && run", "[ -v {x} ]", "[ a = b -o -v \"{x}\" ]", "printf -v {x} 3",
               "printf -v\"{x}\" 3", "read {x} < file", "read -r a {x}", "mapfile {x}",
               "unset -v {x}", "export {x}=3", "f() { local {x}; }", "readonly '{x}=3'",
               "command declare {x}", "trap {x} EXIT", "trap 'rm {x}' EXIT");
  CAPTURE(command);
  const auto script = shell_script(command, ParameterNames({"x"}));
  REQUIRE_FALSE(script.has_value());
  INFO(script.error().message);
  const bool trap = command.starts_with("trap");
  CHECK(script.error().message.starts_with(trap ? "{x} stands in a trap, which the shell evaluates"
                                                : "{x} stands for the name of a variable, which"));
}

TEST_CASE("shell script: what takes code is refused") {
  const std::string command = GENERATE(
      "eval {x}", "eval \"run $(cat f) {x}\"", "source {x}", ". {x}; run", "compgen -W {x}",
      "complete -W '{x}' run", "alias run={x}", "PS4={x}; set -x; run", "PS4=\"+{x}\" bash -x f",
      "BASH_ENV={x} bash -c run", "export BASH_ENV={x}", "env ENV={x} sh -i", "PROMPT_COMMAND+={x}",
      "PROMPT_COMMAND=({x})", "PROMPT_COMMAND[1]={x}", "if true; then eval {x}; fi", "$(eval {x})",
      "command eval {x}");
  CAPTURE(command);
  const auto script = shell_script(command, ParameterNames({"x"}));
  REQUIRE_FALSE(script.has_value());
  CHECK(script.error().message.starts_with("{x} stands where a command or variable takes code"));
}

TEST_CASE("shell script: what only looks like code is not refused") {
  const std::string command =
      GENERATE("run eval {x}", "run . {x}", "ENVIRONMENT={x} run", "run --ENV {x}",
               "PS4='+ '; set -x; run {x}", "eval \"$setup\"; run {x}",
               "source setup.sh && run {x}", "env RATE={x} run", "BASH_ENV= run {x}");
  CAPTURE(command);
  const auto script = shell_script(command, ParameterNames({"x"}));
  if (!script) FAIL(script.error().message);
}

TEST_CASE("shell script: what only looks like arithmetic is not refused") {
  const std::string command = GENERATE(
      "[[ {x} == adam ]] && run {x}", "[[ {x} = a && $n -gt 3 ]]", "[ {x} -gt 3 ]; run -gt {x}",
      "[[ $n -gt 3 ]] && run {x}", "echo let {x}", "run let; echo {x}", "echo ${v:-{x}}",
      "echo \"${v:+{x}}\" ${v#{x}} ${#v} {x} ${!v} {x}", "declare z={x}", "a=3; z={x} run",
      "echo ${arr[1]} {x}", "echo $[1] {x}", "echo run[{x}].txt", "let a=1; run {x}",
      "declare -i a=1; b={x}", "echo \"${v:-\"{x}\"}\" {x}", "test {x} && x={x}",
      "export N={x}; run", "printf '%s' {x}", "IFS=, read -r a b <<< {x}", "read a < {x}; run",
      "run -v {x}", "a=({x} b); run [{x}]", "trap 'rm f' EXIT; run {x}", "[ -n {x} ]",
      "run 2>&1 {x} | tee {x}", "unset a; run {x}");
  CAPTURE(command);
  const auto script = shell_script(command, ParameterNames({"x"}));
  if (!script) FAIL(script.error().message);
}

TEST_CASE("shell script: placeholders beside added arguments") {
  const auto command = trial_command("run {x}", ParameterNames({"x"}), TrialArguments::command_line,
                                     R"({"parameters": {"x": "a b"}})", "/f");
  REQUIRE(command.has_value());
  CHECK(command->arguments[2] == "__attune_0=${1} && shift 1; run \"${__attune_0}\" \"$@\"");
  CHECK(std::vector(command->arguments.begin() + 4, command->arguments.end()) ==
        std::vector<std::string>{"a b", "--x", "a b", "--st_checkpoint_dir", "/f/checkpoint"});
}

}  // namespace attune::shell_script_test
