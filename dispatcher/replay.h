#pragma once
// Brings a fresh dispatcher and its workers to the point where a journal ends, by doing again what
// the journal records. Meanwhile the dispatcher's Journal is one that compares what the dispatcher
// does with the records, instead of writing.
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
  exact,         // continues as if nothing had happened
  late_restart,  // as restart, but waiting requests are answered first; from an earlier attuned
  restart,       // the manager starts anew: waiting requests are forgotten
};
struct Begin {
  BeginHow how = BeginHow::fresh;
  std::string version;  // of attuned
  // With restart: what the algorithms answered while the workers handled what was queued.
  std::string tune_notes = {}, assess_notes = {};
};
std::string encode_begin(const Begin& begin);
Result<Begin> decode_begin(std::string_view payload);

// One thread; the workers must not have been started. They handle the messages that the journal
// shows they handled. After the last record, whoever judges reports (the assessor, or a tuner that
// wants reports) handles all that is queued. Any other tuner, which may need long for that, does so
// after WorkerThreads::start().
class Replay : private Journal, private Sink {
 public:
  // Attaches itself to `dispatcher`; after run() the caller attaches the real sink and journal.
  // Keeps the answers numbered above `received`, so that they can be sent again.
  Replay(Dispatcher& dispatcher, WorkerThreads& workers, std::uint64_t received);

  // Replays all records behind the header. Errors name the record: one that cannot stand in its
  // place, a state that cannot be loaded, or an answer that the dispatcher does not give. After an
  // error the dispatcher and the workers cannot be used any further.
  Result<void> run(RecordScanner& records);
  // After an error of run() or restart(): a plug-in has failed, and the journal may be as good as
  // ever.
  bool algorithm_failed() const { return algorithm_failed_; }

  // ---- after run()

  // Records that the journal lacks at its end, although they follow from it: the caller appends
  // them.
  const std::vector<JournalRecord>& fresh() const { return fresh_; }
  // Messages that the workers have said and the dispatcher has not handled.
  struct Leftover {
    WorkerName from;
    WorkerMessage message;
  };
  std::vector<Leftover> take_leftovers();

  // For a manager that starts anew: drops queued requests, lets the workers handle the rest, puts
  // the leftovers aside, and restarts dispatcher and workers. Call it after run().
  Result<void> restart();
  // What the record `begin` of that restart must tell, because the messages that were put aside are
  // in no other record.
  const std::string& tune_notes() const { return tune_notes_; }
  const std::string& assess_notes() const { return assess_notes_; }

  // The answers above `received`, in order. Nothing: some of them are no longer kept, or the
  // journal has fewer than `received` answers.
  std::optional<std::vector<Frame>> answers_above() const;
  // The offset of the first record behind the snapshot and its kept answers; 0: no snapshot.
  std::uint64_t after_snapshot() const { return after_snapshot_; }
  // Whether a search space is in force: the answer Initialized was given, or the journal has a
  // snapshot.
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
  Result<void> take_next(WorkerName from, const std::string& notes);
  void replay_notes(WorkerName worker, const std::string& notes);
  void end_replay(WorkerName worker);
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
  std::deque<std::string> kept_;  // payloads of the newest numbered answers, without a gap
  std::uint64_t first_kept_ = 0;  // number of the first of them
  std::uint64_t after_snapshot_ = 0;
  std::size_t commands_replayed_ = 0;
  bool begun_ = false, initialized_ = false, algorithm_failed_ = false;
  std::string tune_notes_, assess_notes_;  // of the latest restart
};

}  // namespace attune
