#pragma once
// A decider that knows when it has nothing more to say. It passes on what it is told, counts, and
// syncs; decisions are kept until the sync is answered and then handed over together, in an order
// that does not depend on how long each took: first stops and pauses by job id, then the rest as it
// came. (The daemon has two workers, whose answers overtake each other. The one that only stops
// early says nothing else, so the order of each of the others is kept.)
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "manager/trials/decider.h"

namespace attune {

class SyncedDecider final : public Decider, private Decider::Listener {
 public:
  explicit SyncedDecider(Decider& decider) : decider_(decider) {}  // outlives this

  // Nothing comes by itself any more: all that was told is dealt with, or the decider has ended.
  // Not settled while it starts and while it closes.
  bool settled() const { return ended_ || (ready_ && !told_ && pending_.empty() && !closing_); }
  // Sends the sync that settles it, if one is missing; to be called before waiting.
  void settle();

  Result<void> start(Decider::Listener& listener) override;
  void next(int count) override;
  std::optional<std::string> choose(const Startable& startable) override;
  void on_add(const std::string& job_id, const ProposedTrial& trial) override;
  Action on_result(const std::string& job_id, const std::string& metric_text) override;
  Action on_final(const std::string& job_id, const std::string& metric_text,
                  const json& value) override;
  void on_complete(const std::string& job_id) override;
  void on_error(const std::string& job_id) override;
  void on_remove(const std::string& job_id, TrialEnd::Event event) override;
  void on_paused(const std::string& job_id, const std::string& checkpoint) override;
  void on_pause_failed(const std::string& job_id) override;
  void on_checkpoint(const std::string& job_id, const std::string& checkpoint) override;
  void import(const std::vector<ImportData::Record>& records) override;
  void readopt(const std::vector<Resumed>& trials) override;
  void recall(const std::vector<Resumed>& trials) override { decider_.recall(trials); }
  void update_search_space(const json& search_space) override;
  void sync(const std::string& token) override { decider_.sync(token); }
  bool remembers() const override { return decider_.remembers(); }
  bool congested() const override { return decider_.congested(); }
  void close() override;
  void kill() override;

 private:
  void on_ready() override;
  void on_resumed() override;
  void on_proposal(ProposedTrial proposal) override;
  void on_exhausted(const std::string& reason) override;
  void on_postponed(const std::string& reason) override;
  void on_warning(const std::string& text) override;
  void on_parameter(const std::string& job_id, std::int64_t index,
                    std::optional<ProposedTrial> proposal) override;
  void on_stop(const std::string& job_id, const std::string& reason) override;
  void on_pause(const std::string& job_id, const std::string& reason) override;
  void on_save(const std::string& job_id) override;
  void on_drop(const std::string& checkpoint) override;
  void on_synced(const std::string& token) override;
  void on_failure(Error error) override;
  void on_closed() override;

  // A stop or a pause.
  struct End {
    std::string job_id, reason;
    bool pause = false;
  };

  Decider& tell() {
    told_ = true;
    return decider_;
  }
  void hand_over();

  Decider& decider_;
  Decider::Listener* listener_ = nullptr;
  bool ready_ = false, closing_ = false, ended_ = false;
  bool told_ = false;    // something since the last sync
  std::string pending_;  // the token of the sync that is not answered yet
  std::uint64_t syncs_ = 0;
  std::vector<End> ends_;
  std::vector<std::function<void()>> others_;
};

}  // namespace attune
