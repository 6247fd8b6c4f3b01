#pragma once
// A table of many trials in few lines: some for each state, so that a thousand waiting trials do
// not hide the one that failed. The layout is that of TrialRunner.debug_string() of Ray Tune.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// What one line shows of a trial.
struct TrialProgress {
  std::string state;
  int failures = 0;
  std::string failure;   // shown with the number of failures
  std::string location;  // where it runs; empty: this and the members below are not shown
  double seconds = 0;
  std::optional<std::int64_t> iterations, steps;
  std::optional<double> reward, loss, accuracy;
};
// RUNNING, 1 failures: error.txt [host pid=12], 3 s, 3 iter, 0.25 loss
std::string progress_text(const TrialProgress& progress);

struct StatusRow {
  std::string state;
  std::string name;
  std::string progress;
};

// The rows, with a heading for each state: states sorted by name, rows in natural order. At most
// `limit` rows in all, given to the states in turn, one by one. A state with more rows than its
// share shows half of the share (rounded down) of its first rows, and as many of its last.
std::string status_table(std::vector<StatusRow> rows, std::size_t limit = 20);

// The natural order, "t9" before "t10": runs of digits are compared as numbers, letters without
// case.
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace attune
