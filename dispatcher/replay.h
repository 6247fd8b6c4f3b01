#pragma once
// Brings a fresh dispatcher and its workers to where a journal ends, by doing again what it says
// was done. A journal that checks takes the place of the one that writes.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dispatcher/dispatcher.h"
#include "dispatcher/threads.h"
#include "journal/codec.h"

namespace attune {

// The record `begin`.
enum class BeginHow {
  fresh,         // the first daemon of the experiment
  exact,         // goes on as if nothing had happened
  late_restart,  // as restart, when requests that waited were answered first: in format 1
  restart,       // goes on under a manager that starts anew: requests that waited are forgotten
};
struct Begin {
  BeginHow how = BeginHow::fresh;
  std::string version;  // of attuned
};
std::string encode_begin(const Begin& begin);
Result<Begin> decode_begin(std::string_view payload);

// One thread; the workers have not been started. They do what the journal shows that they did. Then
// whoever judges reports, the assessor or a tuner that wants them, does what else is queued; any
// other tuner, which may need long for it, does so when the workers are started.
class Replay : private Journal, private Sink {
 public:
  // Attaches itself to `dispatcher`; who goes on attaches what follows. Answers numbered above
  // `received` are kept for sending them again.
  Replay(Dispatcher& dispatcher, WorkerThreads& workers, std::uint64_t received);

  // All records behind the header. Errors name the record: one that cannot come where it stands, a
  // state that cannot be loaded, an answer other than the one that follows. After an error the
  // dispatcher and the workers cannot be used any further.
  Result<void> run(RecordScanner& records);

  // ---- after run()

  // What follows from the last record and is not in the journal.
  const std::vector<JournalRecord>& fresh() const { return fresh_; }
  // What the workers have said and io has not handled.
  struct Leftover {
    WorkerName from;
    WorkerMessage message;
  };
  std::vector<Leftover> take_leftovers();

  // The manager starts anew; the leftovers and the queues are dealt with. Not in the middle of
  // run().
  Result<void> restart();

  // Answers above `received`, in order. Nothing: some of them are no longer kept, or the journal
  // has fewer than were received.
  std::optional<std::vector<Frame>> answers_above() const;
  std::uint64_t after_snapshot() const {
    return after_snapshot_;
  }  // offset of the first such record
  // The search space has been in force: Initialized was said, or is part of the snapshot.
  bool initialized() const { return initialized_; }
  std::size_t commands_replayed() const { return commands_replayed_; }

 private:
  void append(JournalRecord record) override;
  void begin_snapshot() override {}
  void send(Frame) override {}
  void fatal(ExitCode code, const std::string& message) override;
  void save(json) override {}
  void terminate() override {}

  using Item = RecordScanner::Item;
  Result<void> advance();  // to the next record
  Result<void> replay(const Item& item);
  Result<void> load(const Item& item);
  Result<void> take_next(WorkerName from);
  bool step(WorkerName worker);
  Result<void> settle_and_restart();
  void judge();
  void settle();
  void keep(std::uint64_t number, std::string_view payload);
  std::unexpected<Error> failed(const Item& item, const std::string& what) const;

  Dispatcher& dispatcher_;
  WorkerThreads& workers_;
  const std::uint64_t received_;
  RecordScanner* records_ = nullptr;
  std::optional<Item> next_;  // the record that has not been replayed; nothing: the end
  std::deque<WorkerMessage> tune_said_, assess_said_;
  std::vector<JournalRecord> fresh_;
  std::string trouble_;           // what went wrong inside of a call to the dispatcher
  std::deque<std::string> kept_;  // payloads of the answers up to the last one that was counted
  std::uint64_t first_kept_ = 0;  // number of the first of them
  std::uint64_t after_snapshot_ = 0;
  std::size_t commands_replayed_ = 0;
  bool begun_ = false, initialized_ = false;
};

}  // namespace attune
