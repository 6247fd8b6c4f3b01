#include "dispatcher/checkpoints.h"

#include <utility>

#include "base/saved_numbers.h"
#include "dispatcher/messages_json.h"

namespace attune {

std::optional<std::string> Checkpoints::put(TrialId trial, std::string checkpoint) {
  std::string& newest = newest_[trial];
  // The same name again replaces nothing: to return it would drop the newest checkpoint.
  if (newest == checkpoint) return std::nullopt;
  std::string former = std::exchange(newest, std::move(checkpoint));
  return former.empty() ? std::nullopt : std::optional(std::move(former));
}

std::string Checkpoints::newest(TrialId trial) const {
  const auto found = newest_.find(trial);
  return found == newest_.end() ? "" : found->second;
}

std::optional<std::string> Checkpoints::take(TrialId trial) {
  auto node = newest_.extract(trial);
  return node ? std::optional(std::move(node.mapped())) : std::nullopt;
}

std::vector<Offer> Checkpoints::released(TrialId from) {
  auto node = waiting_.extract(from);
  return node ? std::move(node.mapped()) : std::vector<Offer>();
}

json Checkpoints::save() const {
  json newest = json::array(), waiting = json::array();
  std::vector<double> trials;
  for (const auto& [trial, checkpoint] : newest_) {
    trials.push_back(static_cast<double>(trial));
    newest.push_back(checkpoint);
  }
  for (const auto& [from, offers] : waiting_) {
    json list = json::array();
    for (const Offer& offer : offers) list.push_back(save_offer(offer));
    waiting.push_back({{"from", from}, {"offers", std::move(list)}});
  }
  return {{"trials", save_numbers(trials)},
          {"newest", std::move(newest)},
          {"waiting", std::move(waiting)}};
}

Result<void> Checkpoints::load(const json& state) {
  Checkpoints loaded;
  const auto trials = TRY(numbers_at(state, "trials"));
  const json newest = TRY(array_at(state, "newest"));
  if (trials.size() != newest.size()) return fail("saved state: columns of different length");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!is_whole(trials[i]) || !newest[i].is_string()) {
      return fail("saved state: an impossible checkpoint");
    }
    loaded.newest_[static_cast<TrialId>(trials[i])] = newest[i];
  }
  for (const json& one : TRY(array_at(state, "waiting"))) {
    auto& offers = loaded.waiting_[TRY(integer_at(one, "from"))];
    for (const json& offer : TRY(array_at(one, "offers"))) {
      offers.push_back(TRY(load_offer(offer)));
    }
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
