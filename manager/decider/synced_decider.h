#pragma once
// A Decider for simulations, where the same seed must give the same run: it wraps another decider,
// and makes its answers come in an order that does not depend on timing.
//
// It passes on what it is told. Answers are held until the sync of settle() is answered, and then
// handed over together: first stops and pauses, sorted by job id, then the rest in the order in
// which they came. This is needed because the daemon has two workers, whose answers overtake each
// other. One of them only stops trials early, and sends nothing else, so that the rest comes from
// the other one, in its order.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "manager/trials/decider.h"

namespace attune {

class SyncedDecider final : public Decider, private Decider::Listener {
 public:
  explicit SyncedDecider(Decider& decider) : decider_(decider) {}  // outlives this

  // No answer will come without a further call: everything told was handled, or the decider has
  // ended. False while the decider starts, and while it closes.
  bool settled() const { return ended_ || (ready_ && !told_ && pending_.empty() && !closing_); }
  // Sends a sync, if something was told since the last one. Call it before you wait for settled().
  void settle();

  Result<void> start(Decider::Listener& listener) override;
  void next(int count) override;
  std::optional<std::string> choose(const Startable& startable) override;
  void on_add(const std::string& job_id, const ProposedTrial& trial) override;
  Action on_result(const std::string& job_id, const std::string& metric_text) override;
  Action on_final(const std::string& job_id, const std::string& metric_text,
                  const json& value) override;
  void on_complete(const std::string& job_id, const json& result) override;
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
  void on_used_up(const std::string& job_id, const std::string& reason) override;
  void on_pause(const std::string& job_id, const std::string& reason) override;
  void on_save(const std::string& job_id) override;
  void on_drop(const std::string& checkpoint) override;
  void on_synced(const std::string& token) override;
  void on_failure(Error error) override;
  void on_closed() override;

  struct End {
    enum class Kind { stop, used_up, pause };
    std::string job_id, reason;
    Kind kind;
  };

  // The decider, for a call after which another sync is needed.
  Decider& tell() {
    told_ = true;
    return decider_;
  }
  void hand_over();  // calls the listener with all answers that are held

  Decider& decider_;
  Decider::Listener* listener_ = nullptr;
  bool ready_ = false, closing_ = false, ended_ = false;
  bool told_ = false;    // something was told since the last sync
  std::string pending_;  // the token of the sync that is not answered yet; empty: none
  std::uint64_t syncs_ = 0;
  std::vector<End> ends_;
  std::vector<std::function<void()>> others_;
};

}  // namespace attune
