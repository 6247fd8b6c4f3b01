#include "backends/shim/options.h"

#include <stdlib.h>

#include <string_view>

namespace attune::shim {

bool parse(int argc, char** argv, Options& options) {
  int at = 1;
  for (; at + 1 < argc && std::string_view(argv[at]) != "--"; at += 2) {
    const std::string_view name = argv[at];
    const char* value = argv[at + 1];
    if (name == "--folder") {
      options.folder = value;
    } else if (name == "--restore") {
      options.restore = value;
    } else if (name == "--keep-checkpoint") {
      options.keep_checkpoint = true;
    } else if (name == "--gpus") {
      options.gpus = value;
    } else if (name == "--memory-events") {
      options.memory_events = value;
    } else if (name == "--output-limit") {
      options.output_limit = ::strtoull(value, nullptr, 10);
    } else if (name == "--grace-ms") {
      options.grace_ms = ::strtoull(value, nullptr, 10);
    } else if (name == "--files") {
      options.files = ::strtoull(value, nullptr, 10);
    } else if (name == "--regex-out") {
      options.patterns.push_back({value, OutputStream::out});
    } else if (name == "--regex-err") {
      options.patterns.push_back({value, OutputStream::err});
    } else if (name == "--regex-both") {
      options.patterns.push_back({value, OutputStream::both});
    } else if (name == "--tune-metric") {
      options.tune_metric = true;
    } else {
      return false;
    }
  }
  options.command = argv + at + 1;
  return at + 1 < argc && !options.folder.empty();
}

}  // namespace attune::shim
