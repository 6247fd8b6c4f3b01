#pragma once
// A Decider that lives in another process: attuned, spawned and spoken to over two pipes exactly as
// NNI's manager does it (protocol/, DaemonLink).
//
// With an Outbox the conversation survives both sides (Conversation): what is said leaves after the
// commit that keeps it, and a daemon that was killed is started again and goes on as if nothing had
// happened. Without one (simulations) everything is sent at once.
//
// Trials of the user's own are unknown to the daemon while they run; the result of one that ended
// well is imported, as NNI's own manager does after a restart.
//
// Its death, an ER, bytes that are no command and an unasked-for end of the stream all become one
// on_failure that says what happened, with the daemon's own words where it left some.
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "manager/decider/conversation.h"
#include "manager/decider/daemon_link.h"
#include "manager/trials/decider.h"
#include "os/clock.h"
#include "os/log.h"

namespace attune {

struct DaemonOptions {
  std::filesystem::path program;
  json parameters;  // daemon_parameters()
  json search_space;
  bool resume = false;  // goes on from what a former daemon saved in `directory`
  bool include_intermediate_results = false;
  std::string log_level = "info";
  std::filesystem::path directory;       // of the experiment; log/ and checkpoint/ are made in it
  std::vector<std::string> environment;  // "NAME=value": what the daemon inherits
  std::chrono::milliseconds exit_grace{5000};  // to end after Terminate; then it is killed
  Outbox* outbox = nullptr;                    // outlives the decider; null: nothing is kept
  std::optional<Outbox::Left> left = {};       // with outbox and resume: by an earlier manager
  // A daemon that breaks down is started again, at most so often in so many seconds.
  int most_restarts = 3;
  double restart_seconds = 600;
  std::chrono::milliseconds ping_every{1000};
};

// What tells the daemon these results.
std::vector<Frame> import_commands(const std::vector<ImportData::Record>& records);

// The caller ignores SIGPIPE. Not thread safe: `io` has one thread, which makes all calls.
class DaemonDecider final : public Decider {
 public:
  DaemonDecider(boost::asio::io_context& io, DaemonOptions options, Log log);
  ~DaemonDecider() override;

  Result<void> start(Listener& listener) override;
  void next(int count) override;
  void on_add(const std::string& job_id, const ProposedTrial& trial) override;
  // Always keep_going: what the daemon decides comes through the listener.
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
  void recall(const std::vector<Resumed>& trials) override;
  void update_search_space(const json& search_space) override;
  void sync(const std::string& token) override;
  bool remembers() const override { return conversation_.has_value(); }
  bool congested() const override { return congested_; }
  void close() override;
  void kill() override;

 private:
  Result<void> launch();
  void send(Frame frame);
  void send_event(const std::string& job_id, const std::string& text, TrialEnd::Event event,
                  const std::string& checkpoint = "");
  struct Running {
    std::string text;  // NewTrialJob payload that it began with: what TrialEnd brings back
    bool customized = false;
    json parameters, result;  // of a customized one; null until its final result
  };
  Running take(const std::string& job_id);
  void handle(const Frame& frame);
  void handle(const Command& command, const std::string& payload);
  void begin(const Initialized& initialized);
  void on_kept();
  void pass_on();  // what may leave
  void look_at_room();
  void ping_later();
  void on_end(DaemonEnd end);
  bool may_restart();
  void relaunch();

  boost::asio::io_context& io_;
  DaemonOptions options_;
  Log log_;
  Listener* listener_ = nullptr;
  SystemClock clock_;
  std::optional<Conversation> conversation_;
  std::unique_ptr<DaemonLink> link_, former_;  // the former one may be in one of its handlers
  boost::asio::steady_timer ping_timer_;
  bool ping_armed_ = false;
  bool congested_ = false;
  std::map<std::string, Running> running_;  // by job id; paused ones too

  bool exact_ = false;           // the daemon that lives was asked to go on exactly
  bool begun_ = false;           // a daemon has answered Initialize, in this life of the manager
  bool closing_ = false;         // Terminate was sent
  bool ended_ = false;           // nothing follows
  bool relaunching_ = false;     // once everything is kept
  std::deque<double> restarts_;  // when, in seconds of clock_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
