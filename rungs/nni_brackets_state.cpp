// Loads the brackets of NNI's Hyperband. What is loaded may be damaged.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/nni_brackets.h"

namespace attune {
namespace {

std::unexpected<Error> damaged_rounds(const std::string& what) {
  return fail("saved state: rounds: " + what);
}

bool is_round_count(const json& x) { return x.is_number_integer() && x >= 0; }

// An array of at most one integer.
bool is_optional_integer(const json& x) {
  return x.is_array() && (x.empty() || (x.size() == 1 && x[0].is_number_integer()));
}

std::optional<std::int64_t> optional_integer(const json& x) {
  return x.empty() ? std::nullopt : std::optional(x[0].get<std::int64_t>());
}

}  // namespace

Result<void> NniBrackets::load_brackets(const json& state) {
  for (const json& one : state) {
    const std::int64_t id = TRY(integer_at(one, "id"));
    if (id < 0 || id >= next_) return damaged_rounds("an unknown bracket");
    const std::int64_t round = TRY(integer_at(one, "round"));
    const std::int64_t trials = TRY(integer_at(one, "trials"));
    const std::int64_t ended = TRY(integer_at(one, "ended"));
    if (round < 0 || round > static_cast<std::int64_t>(last_round(id)) || trials < 1 || ended < 0 ||
        ended >= trials ||
        static_cast<std::size_t>(trials) > this->trials(id, static_cast<std::size_t>(round))) {
      return damaged_rounds("a round that cannot be");
    }
    const json results = TRY(array_at(one, "results"));
    const auto losses = TRY(numbers_at(one, "losses"));
    if (losses.size() != results.size()) return damaged_rounds("a result without a loss");
    Bracket bracket{static_cast<std::size_t>(round), static_cast<std::size_t>(trials),
                    static_cast<std::size_t>(ended)};
    std::set<TrialId> seen;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (!results[i].is_number_integer() || std::isinf(losses[i]) ||
          !seen.insert(results[i].get<TrialId>()).second) {
        return damaged_rounds("a result is damaged");
      }
      bracket.results.emplace_back(results[i].get<TrialId>(), losses[i]);
    }
    if (!brackets_.emplace(id, std::move(bracket)).second) {
      return damaged_rounds("a bracket is there twice");
    }
  }
  return {};
}

Result<void> NniBrackets::load_ready(const json& state) {
  for (const json& one : state) {
    const bool good = one.is_array() && one.size() == 3 && is_round_count(one[0]) &&
                      is_round_count(one[1]) && is_optional_integer(one[2]) &&
                      one[2].empty() == (one[1] > 0);
    if (!good || !brackets_.contains(one[0].get<std::int64_t>())) {
      return damaged_rounds("what is ready is damaged");
    }
    ready_.push_back({one[0], one[1], optional_integer(one[2])});
    if (ready_.back().fresh > brackets_.at(ready_.back().bracket).trials) {
      return damaged_rounds("too many are ready");
    }
  }
  return {};
}

Result<void> NniBrackets::load_running(const json& state) {
  for (const json& one : state) {
    const bool good = one.is_array() && one.size() == 4 && one[0].is_number_integer() &&
                      is_round_count(one[1]) && is_optional_integer(one[2]) &&
                      is_optional_integer(one[3]);
    if (!good || !brackets_.contains(one[1].get<std::int64_t>())) {
      return damaged_rounds("a trial that runs is damaged");
    }
    const auto trial = one[0].get<TrialId>();
    Running run{.bracket = one[1], .from = optional_integer(one[3])};
    if (const auto result = optional_integer(one[2])) {
      const auto& results = brackets_.at(run.bracket).results;
      if (*result < 0 || static_cast<std::size_t>(*result) >= results.size() ||
          results[static_cast<std::size_t>(*result)].first != trial) {
        return damaged_rounds("a trial has the result of another");
      }
      run.result = static_cast<std::size_t>(*result);
    }
    if (!running_.emplace(trial, run).second) return damaged_rounds("a trial runs twice");
  }
  return {};
}

Result<void> NniBrackets::load(const json& state) {
  NniBrackets loaded(static_cast<std::int64_t>(most_), static_cast<std::int64_t>(factor_), serial_);
  loaded.next_ = TRY(integer_at(state, "next"));
  TRY(loaded.load_brackets(TRY(array_at(state, "brackets"))));
  TRY(loaded.load_ready(TRY(array_at(state, "ready"))));
  TRY(loaded.load_running(TRY(array_at(state, "running"))));
  // All that have not ended are ready or run.
  std::map<std::int64_t, std::size_t> present;
  for (const Ready& one : loaded.ready_) {
    present[one.bracket] += std::max<std::size_t>(one.fresh, 1);
  }
  for (const auto& [trial, one] : loaded.running_) ++present[one.bracket];
  for (const auto& [id, bracket] : loaded.brackets_) {
    if (present[id] + bracket.ended != bracket.trials) return damaged_rounds("trials are missing");
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
