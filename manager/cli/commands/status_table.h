#pragma once
// A bounded overview of many trials: some lines for every state, so that a thousand waiting trials
// do not hide the one that failed. The layout is that of TrialRunner.debug_string() of Ray Tune.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

// What one line says of a trial.
struct TrialProgress {
  std::string state;
  int failures = 0;
  std::string failure;   // where or what it was; with failures
  std::string location;  // where it runs; empty: it has reported nothing, and neither is the rest
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

// The rows under a heading for each state, states by name, rows in natural order. At most `limit`
// rows in all, handed out to the states one by one in turn. A state with more rows than it got
// shows floor(half of that) of its first and as many of its last.
std::string status_table(std::vector<StatusRow> rows, std::size_t limit = 20);

// "t9" before "t10": runs of digits compare as numbers, letters without case.
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace attune
