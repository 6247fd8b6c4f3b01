#pragma once
// The Decider that asks attuned: it starts the daemon as a child process and talks to it over two
// pipes exactly as NNI's manager does (protocol/, DaemonLink).
//
// With an Outbox the conversation survives the death of either side (Conversation): a command is
// sent after the commit that stores it, and a daemon that was killed is started again and continues
// as if nothing had happened. Without an Outbox (simulations) every command is sent at once.
//
// The daemon does not know the user's own trials while they run. When one succeeds, its result is
// imported, as NNI's own manager does after a restart.
//
// If the daemon dies and is not restarted, sends an ER or something that is no command, or closes
// its pipe unasked, one on_failure() follows. It says what happened, with the daemon's own last
// words if there are any.
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
  json earlier = nullptr;  // Initialize::earlier
  bool resume = false;     // the daemon continues from the journal in `directory`/checkpoint
  bool include_intermediate_results = false;
  std::string log_level = "info";
  std::filesystem::path directory;       // of the experiment; log/ and checkpoint/ are made in it
  std::vector<std::string> environment;  // "NAME=value": what the daemon inherits
  std::chrono::milliseconds exit_grace{5000};  // the daemon is killed so long after Terminate
  Outbox* outbox = nullptr;                    // outlives the decider; null: nothing is stored
  std::optional<Outbox::Left> left = {};       // of an earlier manager; with outbox and resume
  // A daemon that breaks down is started again, at most `most_restarts` times in any
  // `restart_seconds`.
  int most_restarts = 3;
  double restart_seconds = 600;
  std::chrono::milliseconds ping_every{1000};  // at most one Conversation::ping() in this time
};

// The ImportData commands for these results, of at most 1,000 results each.
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
  void on_complete(const std::string& job_id, const json& result) override;
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
    std::string text;  // the NewTrialJob payload that it began with; TrialEnd sends it back
    bool customized = false;
    json parameters;  // of a customized trial
  };
  Running take(const std::string& job_id);
  void handle(const Frame& frame);
  void handle(const Command& command, const std::string& payload);
  void begin(const Initialized& initialized);
  void on_kept();
  void pass_on();       // sends what the conversation releases
  void look_at_room();  // ends the congestion when little is unsent
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
  // The former link lives until the next restart, because one of its handlers may be running when
  // it is replaced.
  std::unique_ptr<DaemonLink> link_, former_;
  boost::asio::steady_timer ping_timer_;
  bool ping_armed_ = false;
  bool congested_ = false;
  std::map<std::string, Running> running_;  // by job id; paused ones too

  bool exact_ = false;           // the daemon that lives was given Conversation::shared()
  bool begun_ = false;           // a daemon of this manager has answered Initialize
  bool closing_ = false;         // close() was called: nothing more is sent
  bool ended_ = false;           // the listener is not called any more
  bool relaunching_ = false;     // a daemon is started after the next commit
  std::deque<double> restarts_;  // when daemons were restarted, in seconds of clock_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
