#include "manager/decider/daemon_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <tuple>

#include "base/base64.h"
#include "base/saved_numbers.h"
#include "base/trimmed.h"
#include "os/process.h"
#include "os/program_path.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

namespace asio = boost::asio;

bool same_name(const std::string& a, const std::string& b) {
  return ::strcasecmp(a.c_str(), b.c_str()) == 0;
}

struct Ended {
  ExitStatus status;
  std::string output, errors;  // of stdout, of stderr
};

// A plug-in may take long to start: a library is imported, and may be large.
constexpr std::chrono::seconds kPatience(10), kPluginPatience(120);

// Whether the daemon runs the user's code with these parameters: plug-ins, or classes.
bool runs_user_code(const json& parameters) {
  if (parameters.contains("plugins")) return true;
  return std::ranges::any_of(std::array{"tuner", "assessor", "advisor"}, [&](const char* key) {
    const auto algorithm = parameters.find(key);
    return algorithm != parameters.end() && algorithm->is_object() &&
           algorithm->contains("className");
  });
}

// Runs the program to its end, with `input` as its standard input. Error: that takes too long.
Result<Ended> run_daemon(const std::filesystem::path& daemon,
                         const std::vector<std::string>& environment,
                         std::vector<std::string> arguments, const std::string& input,
                         std::chrono::seconds patience) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  UniqueFd in_read(in[0]), in_write(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  UniqueFd out_read(out[0]), out_write(out[1]);
  if (::pipe2(out, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  UniqueFd err_read(out[0]), err_write(out[1]);
  asio::io_context io;
  asio::posix::stream_descriptor output(io, out_read.release());
  asio::posix::stream_descriptor errors(io, err_read.release());
  asio::posix::stream_descriptor to_daemon(io, in_write.release());
  ProcessSpec spec;
  spec.arguments = {daemon.string()};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
  spec.environment = child_environment(environment, {});
  spec.directory = "/";
  spec.descriptors = {{0, in_read.get()}, {1, out_write.get()}, {2, err_write.get()}};
  std::optional<ExitStatus> exit;
  const auto process =
      TRY(ChildProcess::spawn(io, spec, [&exit](ExitStatus status) { exit = status; }));
  in_read.reset();
  out_write.reset();
  err_write.reset();
  Ended ended;
  asio::async_read(output, asio::dynamic_buffer(ended.output, 16 << 20),
                   [](const boost::system::error_code&, std::size_t) {});
  asio::async_read(errors, asio::dynamic_buffer(ended.errors, 1 << 20),
                   [](const boost::system::error_code&, std::size_t) {});
  // A program that does not read its input ends first, and the write fails: that is no error.
  asio::async_write(to_daemon, asio::buffer(input),
                    [&](const boost::system::error_code&, std::size_t) {
                      boost::system::error_code ignored;
                      std::ignore = to_daemon.close(ignored);
                    });
  io.run_for(patience);
  if (!exit) return fail(fmt::format("{} {} does not end", daemon.string(), arguments.front()));
  ended.status = *exit;
  return ended;
}

}  // namespace

Result<std::filesystem::path> find_program(const std::string& name,
                                           const std::filesystem::path& own_directory,
                                           const std::string& path) {
  if (is_program(own_directory / name)) return own_directory / name;
  if (auto found = find_in_path(name, path)) return *std::move(found);
  return fail(fmt::format("{} is neither in {} nor in PATH", name, own_directory.string()));
}

Result<std::filesystem::path> find_daemon(const std::string& given,
                                          const std::filesystem::path& own_directory,
                                          const std::string& path) {
  if (!given.empty()) {
    if (is_program(given)) return std::filesystem::absolute(given);
    return fail(fmt::format("--daemon {} is not a program", given));
  }
  auto found = find_program("attuned", own_directory, path);
  if (!found) return fail(found.error().message + "; name it with --daemon");
  return found;
}

Result<json> list_algorithms(const std::filesystem::path& daemon,
                             const std::vector<std::string>& environment,
                             const std::vector<json>& plugins) {
  std::vector<std::string> arguments = {"--list", "--json"};
  for (const json& spec : plugins) {
    arguments.emplace_back("--plugin");
    arguments.push_back(dump_json(spec));
  }
  const Ended ended = TRY(run_daemon(daemon, environment, arguments, "",
                                     plugins.empty() ? kPatience : kPluginPatience));
  if (!ended.status.success())
    return fail(ended.errors.empty()
                    ? fmt::format("{} --list: {}", daemon.string(), to_text(ended.status))
                    : std::string(trimmed(ended.errors)));
  return parse_json(ended.output);
}

Result<DaemonCheck> ask_daemon(const std::filesystem::path& daemon,
                               const std::vector<std::string>& environment, const json& parameters,
                               const json& search_space) {
  const Ended ended = TRY(run_daemon(
      daemon, environment, {"--check", "--exp_params", base64_encode(dump_json(parameters))},
      dump_json(search_space), runs_user_code(parameters) ? kPluginPatience : kPatience));
  DaemonCheck check;
  const auto said = parse_json(ended.output);
  if (!said || !said->is_object()) return check;  // a daemon without --check
  check.judges_reports = said->value("judges_reports", json(false)) == true;
  check.learns_from_earlier = said->value("learns_from_earlier", json(false)) == true;
  if (said->value("fine", json(true)) != false) return check;
  for (const json& each : TRY(array_at(*said, "refusals"))) {
    DaemonRefusal refusal;
    refusal.part = TRY(text_at(each, "part"));
    for (const json& name : TRY(array_at(each, "path")))
      refusal.path.push_back(name.is_string() ? name.get<std::string>() : dump_json(name));
    refusal.message = TRY(text_at(each, "message"));
    check.refusals.push_back(std::move(refusal));
  }
  return check;
}

std::optional<bool> maximizes(const json& algorithm, const json& list, const std::string& kind) {
  const auto mode_of = [](const json& object) -> std::optional<bool> {
    const auto mode = object.is_object() ? object.find("optimize_mode") : object.end();
    if (!object.is_object() || mode == object.end() || !mode->is_string()) return std::nullopt;
    return *mode == "maximize";
  };
  if (const auto arguments = algorithm.find("classArgs"); arguments != algorithm.end()) {
    if (const auto given = mode_of(*arguments)) return given;
  }
  const std::string name = algorithm.value("name", "");
  if (!list.is_object() || !list.contains(kind)) return std::nullopt;
  for (const json& entry : list[kind]) {
    bool matches = same_name(entry.value("name", ""), name);
    for (const json& alias : entry.value("aliases", json::array())) {
      matches = matches || (alias.is_string() && same_name(alias.get<std::string>(), name));
    }
    if (matches) return mode_of(entry);
  }
  return std::nullopt;
}

}  // namespace attune
