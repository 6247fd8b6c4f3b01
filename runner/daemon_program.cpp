#include "runner/daemon_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/read.hpp>
#include <chrono>

#include "backends/process.h"
#include "backends/program_path.h"
#include "base/unique_fd.h"

namespace attune {
namespace {

namespace asio = boost::asio;

bool same_name(const std::string& a, const std::string& b) {
  return ::strcasecmp(a.c_str(), b.c_str()) == 0;
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
                             const std::vector<std::string>& environment) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  asio::io_context io;
  asio::posix::stream_descriptor output(io, fds[0]);
  UniqueFd input(fds[1]);
  ProcessSpec spec;
  spec.arguments = {daemon.string(), "--list", "--json"};
  spec.environment = child_environment(environment, {});
  spec.directory = "/";
  spec.descriptors = {{1, input.get()}};
  std::optional<ExitStatus> exit;
  const auto process =
      TRY(ChildProcess::spawn(io, spec, [&exit](ExitStatus status) { exit = status; }));
  input.reset();
  std::string text;
  asio::async_read(output, asio::dynamic_buffer(text, 16 << 20),
                   [](const boost::system::error_code&, std::size_t) {});
  io.run_for(std::chrono::seconds(10));
  if (!exit) return fail(fmt::format("{} --list does not end", daemon.string()));
  if (!exit->success()) return fail(fmt::format("{} --list: {}", daemon.string(), to_text(*exit)));
  return parse_json(text);
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
