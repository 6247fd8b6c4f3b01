#include "bench/process/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>

namespace attune::bench {

std::expected<Options, Usage> read_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Measures a dispatcher, any that NNI's manager could launch, through its pipes.",
               "bench_process");
  app.add_option("--tuner", options.tuners, "Tuners whose latency is measured")->delimiter(',');
  app.add_option("--observations", options.observations,
                 "Latency is measured over the 50 requests from each of these on")
      ->delimiter(',')
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--metrics", options.metrics,
                 "Lengths of the runs that measure throughput, in intermediate results")
      ->delimiter(',')
      ->check(CLI::Range(100, 100'000'000));
  app.add_option("--repetitions", options.repetitions, "Processes for each figure")
      ->check(CLI::Range(1, 1000));
  app.add_option("--minutes", options.minutes, "Limit of the whole run")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--json", options.as_json, "Print one JSON object");
  app.footer("After --: path and arguments of the dispatcher; --exp_params is added.");
  // Not CLI11's: it would take the dispatcher's own options for ours.
  const auto end = std::find(argv, argv + argc, std::string_view("--"));
  if (end != argv + argc) options.command.assign(end + 1, argv + argc);
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    return std::unexpected(Usage{code == 0 ? 0 : 2, out.str() + err.str()});
  }
  if (options.command.empty()) {
    return std::unexpected(Usage{2, "bench_process: no dispatcher; put its command after --\n"});
  }
  return options;
}

}  // namespace attune::bench
