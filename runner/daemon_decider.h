#pragma once
// A Decider that lives in another process: attuned, spawned and spoken to over two pipes exactly as
// NNI's manager does it (protocol/). Nothing here blocks; what cannot be written yet is queued.
//
// Trials of the user's own are unknown to the daemon while they run; the result of one that ended
// well is imported, as NNI's own manager does after a restart.
//
// Its death, an ER, bytes that are no command and an unasked-for end of the stream all become one
// on_failure that says what happened, with the daemon's own words where it left some.
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backends/process.h"
#include "base/log.h"
#include "protocol/frame.h"
#include "runner/decider.h"

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
};

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
  void on_complete(const std::string& job_id) override;
  void on_error(const std::string& job_id) override;
  void on_remove(const std::string& job_id, TrialEnd::Event event) override;
  void on_paused(const std::string& job_id, const std::string& checkpoint) override;
  void on_pause_failed(const std::string& job_id) override;
  void on_checkpoint(const std::string& job_id, const std::string& checkpoint) override;
  void import(const std::vector<ImportData::Record>& records) override;
  void readopt(const std::vector<Resumed>& trials) override;
  void update_search_space(const json& search_space) override;
  void sync(const std::string& token) override;
  bool congested() const override { return congested_; }
  void close() override;
  void kill() override;

 private:
  void send(const Frame& frame);
  void send_event(const std::string& job_id, const std::string& text, TrialEnd::Event event,
                  const std::string& checkpoint = "");
  struct Running {
    std::string text;  // NewTrialJob payload that it began with: what TrialEnd brings back
    bool customized = false;
    json parameters, result;  // of a customized one; null until its final result
  };
  Running take(const std::string& job_id);
  void write_more();
  void read_more();
  void handle(const Frame& frame);
  void handle(const Command& command, const std::string& payload);
  void lost(std::string what);  // the conversation is over; wait a moment for the exit status
  void settle();                // reports the end once everything about it is known
  std::string last_words() const;
  std::filesystem::path stderr_path() const {
    return options_.directory / "log" / "attuned.stderr";
  }

  boost::asio::io_context& io_;
  DaemonOptions options_;
  Log log_;
  Listener* listener_ = nullptr;
  std::unique_ptr<ChildProcess> process_;
  boost::asio::posix::stream_descriptor to_, from_;
  boost::asio::steady_timer patience_;
  std::vector<char> input_;
  FrameDecoder decoder_{Framing{}};
  std::string queued_, writing_;
  bool congested_ = false;
  std::map<std::string, Running> running_;  // by job id; paused ones too

  bool closing_ = false;       // Terminate was sent
  bool stream_ended_ = false;  // it will say nothing more
  bool input_closed_ = false;  // it will hear nothing more
  bool settled_ = false;
  std::optional<ExitStatus> exit_;
  std::string lost_, error_text_;  // why the conversation broke off; the text of an ER
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
