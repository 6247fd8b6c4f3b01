#pragma once
// How a trial that knows nothing of a manager reports its results.
#include <string>
#include <vector>

namespace attune {

enum class OutputStream { out, err, both };

struct LinePattern {
  // PCRE2. Each named group that is a number is a metric in the line's report.
  std::string regex;
  OutputStream stream = OutputStream::out;
};

// All trials of an experiment report in the same way.
struct ReportRules {
  enum class How {
    metrics_file,  // .nni/metrics, as NNI
    lines,         // lines of the output that match one of `patterns`
    tune_metric,   // lines `[tune-metric]: {...}` of standard output, as Syne Tune
    result_file,   // `file`, after the end of the attempt
    exit_code,
  };

  How how = How::metrics_file;
  std::vector<LinePattern> patterns;  // with lines
  std::string file;                   // result_file: relative to the trial's directory
  // With result_file: the last matching line is the result; empty: the file is JSON.
  std::string file_regex;
  std::string objective = "default";  // the metric to search for
};

}  // namespace attune
