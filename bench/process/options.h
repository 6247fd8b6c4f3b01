#pragma once
#include <expected>
#include <string>
#include <vector>

namespace attune::bench {

struct Options {
  std::vector<std::string> command;  // the dispatcher, as a manager launches it
  std::vector<std::string> tuners = {"Random", "TPE"};
  std::vector<int> observations = {0, 100, 1000, 10000};
  std::vector<int> metrics = {10'000, 1'000'000};
  int repetitions = 5;
  int minutes = 30;  // then the whole program is ended
  bool as_json = false;
};

struct Usage {
  int exit_code = 0;
  std::string text;
};

std::expected<Options, Usage> read_options(int argc, const char* const* argv);

}  // namespace attune::bench
