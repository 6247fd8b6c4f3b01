// bench_process: measures a whole dispatcher process from outside.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "bench/process/measure.h"

namespace attune::bench {
namespace {

class Printer {
 public:
  explicit Printer(bool as_json) : as_json_(as_json) {}

  void add(const Figure& figure) {
    figures_.push_back(to_json(figure));
    if (as_json_) return;
    std::puts(to_text(figure).c_str());
    std::fflush(stdout);
  }
  void add(const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) add(figure);
  }
  void finish(const Options& options) const {
    if (!as_json_) return;
    const json object = {{"command", options.command}, {"figures", figures_}};
    std::puts(object.dump(1).c_str());
  }

 private:
  bool as_json_;
  json figures_ = json::array();
};

int run(int argc, const char* const* argv) {
  const auto options = read_options(argc, argv);
  if (!options) {
    std::fputs(options.error().text.c_str(), options.error().exit_code == 0 ? stdout : stderr);
    return options.error().exit_code;
  }
  std::signal(SIGPIPE, SIG_IGN);
  ::alarm(static_cast<unsigned>(options->minutes) * 60);  // a dispatcher that hangs ends it
  Printer printer(options->as_json);
  printer.add(pipe_round_trip(*options));
  printer.add(life(*options));
  for (const std::string& tuner : options->tuners) printer.add(latency(*options, tuner));
  for (const int metrics : options->metrics) printer.add(throughput(*options, metrics));
  printer.finish(*options);
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  try {
    return attune::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_process: %s\n", error.what());
    return 1;
  }
}
