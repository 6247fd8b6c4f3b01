#pragma once
// What the program of a task of the coordinator (docs/workloads.md) links to push data into
// buffers and to sample from them. Parameters and reports are those of any trial (trial/trial.h).
//
//   auto client = attune::BufferClient::from_trial(*trial, parameters);
//   client->push("b", {{.meta = R"({"path": "episodes/17"})"}});
//   const auto batch = client->sample("b", 32);
//
// It connects in the first call, and again whenever it has to: the coordinator may come back at
// another port, for its address file is read before each try. So a call may take as long as the
// coordinator is away. What it says nowhere else is true of all calls:
//
// * Without a thread: between calls it answers no pings, and a program that computes for longer
//   than the coordinator's `silence` is disconnected. Nothing is lost by that: the next call
//   connects anew and says again what was not acknowledged.
// * Errors: the attempt does not run any more (fenced()); the coordinator refuses what was said; it
//   was away for longer than the patience, with what went wrong last; the stop was asked for. All
//   but the last two stay: every later call gives the same one.
// * Pushes and samples are numbered in each attempt of the task: a process makes one client.
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
  std::string key;  // of the program of this attempt: what its worker has given it
  // Of each buffer: items that may be without an acknowledgement when push() returns. 0: none. An
  // acknowledged item survives the coordinator.
  std::size_t unacknowledged = 0;
  // So long without a coordinator are calls patient, in seconds.
  double patience = 600;
  // When a coordinator at the same address refuses for so long (another secret, another version),
  // they are not any more, in seconds.
  double refused = 5;
  std::chrono::milliseconds first_pause{100}, longest_pause{5'000};  // between two tries
  std::chrono::milliseconds try_for{10'000};                         // one try
  // Asked about once a second while a call waits, and after a signal; true: the call ends.
  std::function<bool()> stop = {};
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
};

struct DataItem {
  std::string meta;                               // UTF-8, at most 64 KiB: where the data are
  std::optional<double> priority = {};            // 0 to 1e100; none: the largest there was
  std::optional<std::int64_t> collect_iter = {};  // of what made it; none: is never stale
};

struct SampledItem {
  std::uint64_t id = 0;
  std::string meta;
  double weight = 1;  // of importance sampling, in (0, 1]
};

class BufferClient {
 public:
  // `parameters`: "coordinator" is the address file. The other options are those given. The error:
  // it is missing, or the trial has no manager.
  static Result<BufferClient> from_trial(const Trial& trial, const json& parameters,
                                         BufferClientOptions options = {});
  explicit BufferClient(BufferClientOptions options);

  // Waits while the coordinator makes producers of this buffer wait. False: the buffer is closed,
  // and what it has not taken is dropped. An error: an item is none; nothing was pushed then.
  Result<bool> push(const std::string& buffer, std::vector<DataItem> items);
  // Until all that was pushed is acknowledged; false: closed.
  Result<bool> flush(const std::string& buffer);

  // A batch of exactly n, 1 to the `batch` of the buffer; waits until there is one. Nothing: the
  // buffer is closed, which its owner's end does; so is one whose owner has not begun. A batch that
  // was on its way when the connection broke, or the coordinator was killed, comes again. So does
  // that of a call that was stopped, to the next call; when that wants another n, it is dropped.
  Result<std::optional<std::vector<SampledItem>>> sample(const std::string& buffer, std::size_t n);

  // Do not wait for an answer, and are said again after a lost connection unless a later sample or
  // push was answered; of more than 1024 such the oldest are dropped. Of a closed buffer: nothing
  // happens. Priorities are numbers from 0 to 1e100, as many as ids.
  Result<void> update(const std::string& buffer, std::span<const std::uint64_t> ids,
                      std::span<const double> priorities);
  Result<void> advance(const std::string& buffer, std::int64_t iteration);

  // The coordinator has said that the attempt does not run (any more): another one does, and what
  // this process does is of no use.
  bool fenced() const { return fenced_; }
  bool closed(const std::string& buffer) const;  // as far as it was told

 private:
  struct Channel {
    bool closed = false;
    std::int64_t first = 1;       // the number of waiting.front()
    std::deque<json> waiting;     // items that are not acknowledged
    std::size_t in_flight = 0;    // so many of them have been said
    std::uint64_t push_mark = 0;  // notes that had been said before
    std::size_t wanted = 0;       // of a batch; 0: none
    std::int64_t order = 0;       // the number of the batch that was asked for last
    std::size_t ordered = 0;      // its size, until all of it is here
    bool asked = false;           // over this connection, for what is missing of it
    std::uint64_t sample_mark = 0;
    std::vector<SampledItem> parts;  // of it, over this connection
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
  // Messages that get no answer, until one to a later message shows that they were heard.
  std::deque<json> notes_;
  std::uint64_t notes_said_ = 0;  // in all; the number of the newest one
  std::optional<Error> failure_;  // that stays
  bool fenced_ = false;
  std::string trouble_ = "it was not asked yet";  // why there is no connection
  std::optional<WireAddress> refused_by_;
  double refused_since_ = 0;
};

}  // namespace attune
