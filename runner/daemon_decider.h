#pragma once
// A Decider that lives in another process: attuned, spawned and spoken to over two pipes exactly as
// NNI's manager does it (protocol/). Nothing here blocks; what cannot be written yet is queued.
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
  void on_result(const std::string& job_id, const std::string& metric_text) override;
  void on_complete(const std::string& job_id) override;
  void on_error(const std::string& job_id) override;
  void on_remove(const std::string& job_id, TrialEnd::Event event) override;
  bool congested() const override { return congested_; }
  void close() override;
  void kill() override;

 private:
  void send(const Frame& frame);
  void send_end(const std::string& job_id, TrialEnd::Event event);
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
  std::map<std::string, std::string> texts_;  // job id -> NewTrialJob payload of a running trial

  bool closing_ = false;       // Terminate was sent
  bool stream_ended_ = false;  // it will say nothing more
  bool input_closed_ = false;  // it will hear nothing more
  bool settled_ = false;
  std::optional<ExitStatus> exit_;
  std::string lost_, error_text_;  // why the conversation broke off; the text of an ER
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
