// bench_plugins SUPERVISOR [COMMAND...]: what an ask of a process plug-in costs. Without a command
// the plug-in is this program, which does nothing but answer. docs/performance.md.
#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "plugins/process/process_plugin.h"
#include "space/parse.h"

namespace {

constexpr int kAsks = 20'000;
constexpr const char* kAnswering = "--answer";

// Ten parameters.
constexpr const char* kSpace = R"({
  "a":{"_type":"uniform","_value":[0,1]},"b":{"_type":"uniform","_value":[0,1]},
  "c":{"_type":"uniform","_value":[0,1]},"d":{"_type":"loguniform","_value":[0.001,1]},
  "e":{"_type":"randint","_value":[0,9]},"f":{"_type":"choice","_value":["x","y"]},
  "g":{"_type":"quniform","_value":[0,1,0.25]},"h":{"_type":"normal","_value":[0,1]},
  "i":{"_type":"choice","_value":[1,2,3]},"j":{"_type":"uniform","_value":[0,1]}})";
constexpr const char* kAnswer =
    R"({"answers":[{"parameters":{"a":0.123456789012345,"b":0.123456789012345,)"
    R"("c":0.123456789012345,"d":0.123456789012345,"e":3,"f":"x","g":0.25,"h":0.5,"i":2,"j":0.5}}]})";

int answer() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.starts_with(R"({"op":"exit")")) break;
    if (line.starts_with(R"({"op":"describe")")) {
      std::cout << R"({"protocol":1,"algorithms":[{"kind":"tuner","name":"Fixed"}]})";
    } else {
      std::cout << (line.starts_with(R"({"op":"ask")") ? kAnswer : "{}");
    }
    std::cout << std::endl;
  }
  return 0;
}

using Microseconds = std::chrono::duration<double, std::micro>;

void print(const char* what, std::vector<double>& costs) {
  std::ranges::sort(costs);
  fmt::print("{}: median {:.1f} us, 10 % {:.1f} us, 90 % {:.1f} us\n", what,
             costs[costs.size() / 2], costs[costs.size() / 10], costs[costs.size() * 9 / 10]);
}

attune::Result<void> measure(attune::ProcessPluginSpec spec) {
  const attune::SystemClock clock;
  auto plugin = TRY(attune::open_process_plugin(std::move(spec), clock, attune::Log()));
  auto arguments = TRY(attune::resolve_arguments(plugin->name(), plugin->algorithms()[0].arguments,
                                                 attune::json::object()));
  auto tuner = TRY(plugin->make_tuner(plugin->algorithms()[0], {std::move(arguments), {}, 1}));
  TRY(tuner->set_space(TRY(attune::parse_space(TRY(attune::parse_json(kSpace))))));
  std::vector<double> asks, tells;
  for (attune::TrialId id = 0; id < kAsks; ++id) {
    const auto begin = std::chrono::steady_clock::now();
    const auto answers = TRY(tuner->ask({&id, 1}));
    const auto asked = std::chrono::steady_clock::now();
    const attune::Outcome outcome{.trial = id,
                                  .point = std::get<attune::Proposal>(answers.at(0)).point,
                                  .loss = 0.5,
                                  .metrics = {{"default", 0.5}}};
    TRY(tuner->tell({&outcome, 1}));
    asks.push_back(Microseconds(asked - begin).count());
    tells.push_back(Microseconds(std::chrono::steady_clock::now() - asked).count());
  }
  print("ask", asks);
  print("tell", tells);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && ::strcmp(argv[1], kAnswering) == 0) return answer();
  if (argc < 2) {
    std::fputs("bench_plugins SUPERVISOR [COMMAND...]\n", stderr);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  attune::ProcessPluginSpec spec;
  spec.supervisor = argv[1];
  spec.command.assign(argv + 2, argv + argc);
  if (spec.command.empty())
    spec.command = {std::filesystem::read_symlink("/proc/self/exe").string(), kAnswering};
  if (const auto done = measure(std::move(spec)); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
