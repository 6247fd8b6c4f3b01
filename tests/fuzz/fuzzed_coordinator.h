#pragma once
// A coordinator and its buffers as the server puts them together, without sockets and disk: records
// and messages are made as for these, and the records are kept.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/pool/messages.h"
#include "cluster/workload/buffer_board.h"
#include "wire/json_frames.h"

namespace attune {

class FuzzedCoordinator final : public CoordinatorEffects {
 public:
  explicit FuzzedCoordinator(std::unique_ptr<Commander> commander = nullptr)
      : buffers(1, {[this](const json& record) { records.push_back(dump_json(record)); },
                    [](BufferSession, const json& message) { frame(message); }}),
        coordinator({}, std::move(commander), *this) {}

  // ---- CoordinatorEffects
  void append(const Record& record) override { records.push_back(encode_record(record)); }
  void applied(const Record& record, const Task* task) override { buffers.hear(record, task); }
  void lease(const Task& task, bool again) override { frame(lease_message(task, again, "")); }
  void cancel(const std::string&, const HeldLease& held, const std::string& how) override {
    frame(cancel_message(held, how));
  }
  void tell(const Task& task, const json& message) override { frame(tell_message(task, message)); }
  void say_again(const Task& task) override { frame(say_again_message(task)); }
  void acknowledge_info(const std::string&, const HeldLease& held, std::uint64_t seq) override {
    frame(info_ack_message(held, seq));
  }
  void acknowledge_end(const std::string&, const HeldLease& held) override {
    frame(finished_ack_message(held));
  }
  void dismiss(const std::string&) override {}
  void state_changed(const Task& task) override { frame(state_message(task, task.since)); }
  void info(const Task& task, std::uint64_t seq, const json& event) override {
    frame(info_message(task, seq, event));
  }

  // ---- as the server does
  Result<void> load(const json& state) {
    TRY(coordinator.load(state));
    return buffers.load(state.contains("buffers") ? state["buffers"] : json::object());
  }
  Result<void> replay(const json& record) {
    if (record.is_object() && record.contains("buffer")) return buffers.replay(record);
    return coordinator.replay(TRY(record_from_json(record)));
  }
  json save() const {
    json state = coordinator.save();
    state["buffers"] = buffers.save();
    return state;
  }

  std::vector<std::string> records;
  BufferBoard buffers;
  Coordinator coordinator;

 private:
  static void frame(const json& message) { ATTUNE_CHECK(encode_json_frame(message).has_value()); }
};

}  // namespace attune
