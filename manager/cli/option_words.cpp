#include "manager/cli/option_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/arguments.h"
#include "base/json.h"
#include "base/names.h"
#include "manager/store/stored_values.h"

namespace attune {

Result<std::map<std::string, std::string>> read_retries(const std::vector<std::string>& texts) {
  const std::vector<std::string> classes = {"failed", "signalled", "out_of_memory", "lost",
                                            "stopped"};
  const std::vector<std::string> policies = {"skip", "restart", "resume"};
  const auto check = [](const std::string& word, const std::vector<std::string>& known,
                        const std::string& text) -> Result<void> {
    if (std::ranges::find(known, word) != known.end()) return {};
    const std::string near = nearest_name(word, known);
    return fail(fmt::format("--retry {}: unknown '{}'{}. Known: {}", text, word,
                            near.empty() ? "" : ", did you mean '" + near + "'?",
                            fmt::join(known, ", ")));
  };
  std::map<std::string, std::string> retries;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      return fail(fmt::format("--retry {}: wants CLASS=POLICY, as in failed=restart", text));
    TRY(check(text.substr(0, equals), classes, text));
    TRY(check(text.substr(equals + 1), policies, text));
    retries[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return retries;
}

Result<std::map<std::string, double>> read_amounts(const std::vector<std::string>& texts) {
  std::map<std::string, double> amounts;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    const auto amount = parse_json(sign == std::string::npos ? "" : text.substr(sign + 1));
    if (sign == 0 || !amount || !amount->is_number() || !(amount->get<double>() >= 0) ||
        amount->get<double>() > kMostAmount)
      return fail(fmt::format("--resource {}: NAME=AMOUNT is wanted, such as licence=2", text));
    TRY(check_name("--resource", text.substr(0, sign)));
    amounts[text.substr(0, sign)] = amount->get<double>();
  }
  return amounts;
}

std::vector<TrialStatus> read_statuses(const std::vector<std::string>& texts) {
  std::vector<TrialStatus> statuses;
  for (const TrialStatus status : kTrialStatuses) {
    if (std::ranges::find(texts, status_word(status)) != texts.end()) statuses.push_back(status);
  }
  return statuses;
}

}  // namespace attune
