#include "dispatcher/checkpoints.h"

#include <utility>

#include "base/saved_numbers.h"

namespace attune {

std::optional<std::string> Checkpoints::put(TrialId trial, std::string checkpoint) {
  std::string& newest = newest_[trial];
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
  json state = json::array();
  for (const auto& [trial, checkpoint] : newest_) {
    state.push_back({{"trial", trial}, {"checkpoint", checkpoint}});
  }
  return state;
}

Result<void> Checkpoints::load(const json& state) {
  std::map<TrialId, std::string> loaded;
  for (const json& one : state) {
    loaded[TRY(integer_at(one, "trial"))] = TRY(text_at(one, "checkpoint"));
  }
  newest_ = std::move(loaded);
  return {};
}

}  // namespace attune
