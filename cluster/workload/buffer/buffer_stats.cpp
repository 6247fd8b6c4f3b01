#include "cluster/workload/buffer/buffer_stats.h"

namespace attune {

std::string_view to_text(BufferAnswer answer) {
  switch (answer) {
    case BufferAnswer::ok:
      return "ok";
    case BufferAnswer::few:
      return "few";
    case BufferAnswer::rate:
      return "rate";
    case BufferAnswer::full:
      return "full";
    case BufferAnswer::closed:
      break;
  }
  return "closed";
}

json to_json(const BufferStats& stats) {
  return {{"size", stats.size},           {"capacity", stats.capacity},
          {"pushed", stats.pushed},       {"sampled", stats.sampled},
          {"batches", stats.batches},     {"used_up", stats.used_up},
          {"stale", stats.stale},         {"replaced", stats.replaced},
          {"discarded", stats.discarded}, {"producers", stats.producers},
          {"push", to_text(stats.push)},  {"sample", to_text(stats.sample)}};
}

}  // namespace attune
