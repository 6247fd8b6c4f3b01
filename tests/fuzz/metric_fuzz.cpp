// What trials write. First the bytes of .nni/metrics, cut anywhere: the same records as in one
// piece, each a metric. Then the same bytes as lines that a trial printed: what a line reports is
// JSON, or nothing.
#include <vector>

#include "backends/report/metric_file.h"
#include "backends/report/metric_text.h"
#include "backends/report/tune_metric.h"
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

static std::vector<std::string> records(std::string_view file, std::size_t piece) {
  std::vector<std::string> found;
  MetricParser parser;
  bool finished = false;
  for (std::size_t at = 0; !finished; at += piece) {
    finished = at >= file.size();
    if (finished) {
      parser.finish();
    } else {
      parser.feed(file.substr(at, piece));
    }
    for (;;) {
      auto next = parser.next();
      if (next && std::holds_alternative<NeedMoreBytes>(*next)) break;
      ATTUNE_CHECK(parser.offset() <= file.size());
      if (next) found.push_back(std::get<MetricRecord>(*next).text);
    }
  }
  return found;
}

static void print(std::string_view line, const std::vector<Regex>& patterns) {
  if (const auto report = find_tune_metric(line)) {
    ATTUNE_CHECK(report->starts_with('{') && report->ends_with('}'));
  }
  for (const Regex& pattern : patterns) {
    Regex::Match match;
    if (pattern.find(line, match) != Regex::Outcome::found) continue;
    const MetricText text = metric_text(match);
    ATTUNE_CHECK(text.json.empty() || parse_json(text.json).value().is_object());
  }
}

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto piece = static_cast<unsigned char>(input.front());
  const std::string_view bytes = input.substr(1);
  const auto whole = records(bytes, std::max<std::size_t>(bytes.size(), 1));
  ATTUNE_CHECK(whole == records(bytes, 1 + piece / 2));

  static const std::vector<Regex> patterns = [] {
    std::vector<Regex> list;
    for (const char* text :
         {R"(loss[=: ]+(?<default>\S+))", R"((?<epoch>\d+).*?(?<acc>[-+.\w]+)%?$)",
          R"((?<a>[^,]*),(?<b>[^,]*),(?<default>[^,]*))"}) {
      list.push_back(Regex::compile(text).value());
    }
    return list;
  }();
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    print(line, patterns);
  }
}
