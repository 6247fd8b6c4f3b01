#pragma once
// The client of a coordinator's buffers (docs/workloads.md): the program of a task links it to push
// data into buffers and to sample from them. Parameters and reports are those of any trial
// (trial/trial.h).
//
//   auto client = attune::BufferClient::from_trial(*trial, parameters);
//   client->push("b", {{.meta = R"({"path": "episodes/17"})"}});
//   const auto batch = client->sample("b", 32);
//
// It connects in the first call, and again whenever it has to. Before each try it reads the
// coordinator's address file, because a restarted coordinator may have another port. So a call may
// take as long as the coordinator is away. All calls have this in common:
//
// * There is no thread. Between calls nobody answers pings, and the coordinator disconnects a
//   program that computes for longer than its `silence`. Nothing is lost by that: the next call
//   connects again and sends again what was not acknowledged.
// * Errors: this attempt does not run any more (fenced()); the coordinator refuses what was sent;
//   it was away for longer than the patience (the error has the last reason); `stop` asked for the
//   end. All but the last two stay: every later call gives the same one.
// * Pushes and samples are numbered in each attempt of the task, so a process makes one client.
//
// One thread at a time.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/json.h"
#include "base/result.h"
#include "os/clock.h"
#include "trial/trial.h"
#include "wire/message_socket.h"

namespace attune {

struct BufferClientOptions {
  std::string address_file;  // of the coordinator: program.json in its folder
  std::string task;          // the id of the own task, and which attempt of it this is
  std::int64_t attempt = 0;
  std::string key;  // of this attempt; its worker gave it to the program
  // How many items of each buffer may be without an acknowledgement when push() returns. 0: none.
  // An acknowledged item is not lost if the coordinator is killed.
  std::size_t unacknowledged = 0;
  // Seconds that a call waits for the coordinator to come back.
  double patience = 600;
  // If a coordinator at the same address refuses for so many seconds (another secret, another
  // version), the call does not wait any longer, and the error stays.
  double refused = 5;
  std::chrono::milliseconds first_pause{100}, longest_pause{5'000};  // between two tries
  std::chrono::milliseconds try_for{10'000};                         // one try
  // Called about once a second while a call waits, and after a signal. True: the call ends with an
  // error.
  std::function<bool()> stop = {};
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
};

struct DataItem {
  std::string meta;                               // UTF-8, at most 64 KiB: where the data are
  std::optional<double> priority = {};            // 0 to 1e100; none: the largest there was
  std::optional<std::int64_t> collect_iter = {};  // the learner's iteration; none: never stale
};

struct SampledItem {
  std::uint64_t id = 0;
  std::string meta;
  double weight = 1;  // of importance sampling, in (0, 1]
};

class BufferClient {
 public:
  // Takes the address file from the parameter "coordinator"; task, attempt and key from `trial`;
  // the rest from `options`. An error: the parameter is missing, or the trial has no manager.
  static Result<BufferClient> from_trial(const Trial& trial, const json& parameters,
                                         BufferClientOptions options = {});
  explicit BufferClient(BufferClientOptions options);

  // Waits while the buffer makes its producers wait, and then until at most `unacknowledged` items
  // are not acknowledged. False: the buffer is closed, and what it has not taken is dropped. An
  // invalid item is an error, and then nothing was pushed.
  Result<bool> push(const std::string& buffer, std::vector<DataItem> items);
  // Waits until all that was pushed is acknowledged; false: the buffer is closed.
  Result<bool> flush(const std::string& buffer);

  // Returns a batch of exactly n items, 1 to the `batch` of the buffer; waits until there is one.
  // Nothing: the buffer is closed, because its owner has ended, or has not begun yet. If the
  // connection breaks or the coordinator is killed, a batch that was on its way is sent again. The
  // batch of a call that was stopped goes to the next call, or is dropped if that call wants
  // another n.
  Result<std::optional<std::vector<SampledItem>>> sample(const std::string& buffer, std::size_t n);

  // These two wait for no answer. After a lost connection they are sent again, unless a later
  // sample or push was answered; only the newest 1024 of them are kept. For a closed buffer they do
  // nothing. Priorities are numbers from 0 to 1e100, one for each id.
  Result<void> update(const std::string& buffer, std::span<const std::uint64_t> ids,
                      std::span<const double> priorities);
  Result<void> advance(const std::string& buffer, std::int64_t iteration);

  // The coordinator has said that this attempt does not run (any more). Another one does, so the
  // work of this process is of no use.
  bool fenced() const { return fenced_; }
  bool closed(const std::string& buffer) const;  // as far as this client has heard

 private:
  struct Channel {
    bool closed = false;
    std::int64_t first = 1;       // the number of waiting.front()
    std::deque<json> waiting;     // items that are not acknowledged
    std::size_t in_flight = 0;    // so many of them were sent, and wait for the answer
    std::uint64_t push_mark = 0;  // notes_said_ at that moment
    std::size_t wanted = 0;       // size of the batch that a call waits for; 0: none
    std::int64_t order = 0;       // the number of the batch that was asked for last
    std::size_t ordered = 0;      // its size; 0 once all of it is here
    bool asked = false;           // the rest of it was asked for over this connection
    std::uint64_t sample_mark = 0;
    std::vector<SampledItem> parts;  // what has come of it over this connection
    std::optional<std::vector<SampledItem>> batch;
  };

  Result<void> await(const std::function<bool()>& done);
  Result<void> connect();
  Result<void> dial();
  Result<void> meet(const json& message);
  Result<void> say_due();
  Result<void> hear_all();
  Result<void> hear(const json& message);
  Result<void> hear_batch(Channel& channel, const json& message);
  std::string refusal(const json& message);
  std::unexpected<Error> refused(const WireAddress& by, const std::string& why);
  Result<void> note(const std::string& buffer, json message);
  void confirm(std::uint64_t mark);
  Result<void> check_stop() const;
  std::unexpected<Error> give_up(std::string why);
  double now() const { return options_.clock->now(); }

  BufferClientOptions options_;
  Backoff backoff_;
  std::optional<MessageSocket> socket_;
  double ping_ = 10, silence_ = 30;  // of the coordinator, in seconds
  std::map<std::string, Channel> channels_;
  // Messages that get no answer of their own. The answer to a later message shows that they were
  // heard.
  std::deque<json> notes_;
  std::uint64_t notes_said_ = 0;  // in all; the number of the newest one
  std::optional<Error> failure_;  // the error that stays
  bool fenced_ = false;
  std::string trouble_ = "it was not asked yet";  // why there is no connection
  std::optional<WireAddress> refused_by_;
  double refused_since_ = 0;
};

}  // namespace attune
