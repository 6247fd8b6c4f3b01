#pragma once
// A plug-in's tuner that does what a test tells it to, and writes down what it hears.
#include <fmt/format.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugins/plugin.h"

namespace attune {

// What the test sees of the tuner, which the guard owns.
struct FakeTunerWorld {
  std::vector<std::string> heard;        // "space", "ask 1 2", "adopt 1 0.25", ...
  std::map<std::string, int> failures;   // of a call: how often it fails from now on
  std::deque<std::vector<Answer>> lies;  // answers instead of the next ones
  std::vector<Decision> decisions;       // of the next report
  std::optional<json> saved;             // what save() gives instead
  double next = 0.5;                     // the value of the next proposals
  bool drifts = false;                   // each proposal is another one, whatever was saved
  int asked = 0;

  bool fails(const std::string& call) {
    auto found = failures.find(call);
    if (found == failures.end() || found->second == 0) return false;
    --found->second;
    return true;
  }
};

class FakeTuner final : public PluginTuner {
 public:
  explicit FakeTuner(std::shared_ptr<FakeTunerWorld> world) : world_(std::move(world)) {}

  Result<void> set_space(const Space& space) override {
    size_ = space.params.size();
    count_ = 0;
    return heard("space");
  }
  Result<std::vector<Answer>> ask(std::span<const TrialId> ids) override {
    std::string text = "ask";
    for (const TrialId id : ids) text += fmt::format(" {}", id);
    if (auto fine = heard(text); !fine) return std::unexpected(fine.error());
    if (!world_->lies.empty()) {
      auto lie = world_->lies.front();
      world_->lies.pop_front();
      return lie;
    }
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      double value = world_->next;
      if (world_->drifts) value = 1.0 / (2 + world_->asked++);
      answers.emplace_back(Proposal{.point = {std::vector<double>(size_, value)}});
    }
    ++count_;
    return answers;
  }
  Result<void> withdraw(TrialId id) override { return heard(fmt::format("withdraw {}", id)); }
  Result<void> tell(std::span<const Outcome> outcomes) override {
    std::string text = "tell";
    for (const Outcome& outcome : outcomes) text += fmt::format(" {}", outcome.trial);
    return heard(text);
  }
  Result<void> adopt(TrialId id, const Point& point) override {
    return heard(fmt::format("adopt {} {}", id, point.values.at(0)));
  }
  Result<std::vector<Decision>> on_report(const Report& report) override {
    if (auto fine = heard(fmt::format("report {} {}", report.trial, report.step)); !fine) {
      return std::unexpected(fine.error());
    }
    return std::exchange(world_->decisions, {});
  }
  Result<void> skip_ahead() override { return heard("skip_ahead"); }
  Result<json> save() override {
    if (auto fine = heard("save"); !fine) return std::unexpected(fine.error());
    return world_->saved.value_or(json(count_));
  }
  Result<void> load(const json& state) override {
    if (auto fine = heard("load " + dump_json(state)); !fine) return fine;
    if (!state.is_number_integer()) return fail("an odd state");
    count_ = state.get<int>();
    return {};
  }
  Result<void> restart() override { return heard("restart"); }

 private:
  Result<void> heard(const std::string& text) {
    world_->heard.push_back(text);
    const std::string call = text.substr(0, text.find(' '));
    if (world_->fails(call)) return fail("the test lets " + call + " fail");
    return {};
  }

  std::shared_ptr<FakeTunerWorld> world_;
  std::size_t size_ = 0;
  int count_ = 0;
};

}  // namespace attune
