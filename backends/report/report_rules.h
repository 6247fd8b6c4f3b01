#pragma once
// How a trial reports that knows nothing of a manager.
#include <string>
#include <vector>

namespace attune {

enum class OutputStream { out, err, both };

struct LinePattern {
  // PCRE2; each named group that is a number is a metric of the line's report.
  std::string regex;
  OutputStream stream = OutputStream::out;
};

// One way for all trials of an experiment.
struct ReportRules {
  enum class How {
    metrics_file,  // .nni/metrics, as NNI
    lines,         // lines of the output that match one of `patterns`
    tune_metric,   // lines `[tune-metric]: {...}` of standard output, as Syne Tune
    result_file,   // `file`, when the attempt has ended
    exit_code,
  };

  How how = How::metrics_file;
  std::vector<LinePattern> patterns;  // with lines
  std::string file;                   // with result_file: in the trial's folder, relative to it
  std::string file_regex;             // the last line that matches is the result; empty: JSON
  std::string objective = "default";  // the metric that is searched for
};

}  // namespace attune
