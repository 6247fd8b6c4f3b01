// A daemon for tests of the manager's side: what it does is the word in FAKE_DAEMON.
//   works             answers as attuned does; proposes {"x": 0}, {"x": 1}, ... at most FAKE_LIMIT
//                     of them; stops a trial whose intermediate value is above 100, pauses one at
//                     50, and lets it go on with the next request; asks for a checkpoint at 60, and
//                     drops it. Writes what it is told into FAKE_LOG, a command a line
//   dies              writes to stderr, exits with 3
//   error             sends ER, exits with 2
//   garbage           sends bytes that are no command
//   closes            closes its output and stays
//   stops-reading     answers Initialize, then reads nothing more, whatever comes
//   ignores-terminate works, but stays after Terminate and the end of its input
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "protocol/codec.h"
#include "protocol/frame.h"

namespace {

using namespace attune;

std::string word(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

void put(const std::string& bytes) {
  if (::write(4, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) ::_exit(9);
}

void send(const Frame& frame) {
  std::string bytes;
  if (!encode_frame(frame, Framing{}, bytes)) ::_exit(9);
  put(bytes);
}

[[noreturn]] void stay() {
  ::signal(SIGTERM, SIG_IGN);
  while (true) ::pause();
}

class Works {
 public:
  // False: it is over.
  bool handle(const Command& command) {
    if (std::holds_alternative<Initialize>(command)) {
      send({"ID", ""});
    } else if (const auto* request = std::get_if<RequestTrialJobs>(&command)) {
      propose(request->count);
    } else if (const auto* metric = std::get_if<ReportMetricData>(&command)) {
      judge(*metric);
    } else if (const auto* end = std::get_if<TrialEnd>(&command)) {
      if (end->event == TrialEnd::Event::paused) {
        paused_ = {end->trial_job_id, end->checkpoint};
      }
    } else if (const auto* saved = std::get_if<CheckpointSaved>(&command)) {
      send(encode(DropCheckpoint{saved->checkpoint}));
    } else if (const auto* ping = std::get_if<Ping>(&command)) {
      send(encode(Pong{ping->token}));
    }
    return !std::holds_alternative<Terminate>(command);
  }

 private:
  void judge(const ReportMetricData& metric) {
    const std::string& job = metric.trial_job_id;
    if (metric.type == ReportMetricData::Type::request_parameter) {
      const json parameters = metric.parameter_index > 1 ? json() : json{{"x", 7}};
      send(encode(SendTrialJobParameter{std::int64_t{7}, parameters, job, metric.parameter_index}));
    } else if (metric.type == ReportMetricData::Type::periodical && metric.value > 100) {
      send(encode(KillTrialJob{job, "above 100"}));
    } else if (metric.value == 50) {
      send(encode(PauseTrialJob{job, "half of 100"}));
    } else if (metric.value == 60) {
      send(encode(SaveCheckpoint{job}));
    }
  }

  void propose(std::int64_t count) {
    if (const auto [job, checkpoint] = std::exchange(paused_, {}); !job.empty() && count > 0) {
      NewTrialJob again;
      again.parameter_id = std::int64_t{next_++};
      again.parameters = {{"x", 0}};
      again.resume_trial_job_id = job;
      again.checkpoint_from = checkpoint;
      send(encode(again));
      --count;
    }
    for (; count > 0 && next_ < limit_; --count, ++next_) {
      // Not as encode() would write it: the manager must keep the text as it is.
      send({"TR", fmt::format(R"({{"parameter_id": {0}, "parameters": {{"x":{0}}}, "extra":1}})",
                              next_)});
    }
    if (count > 0) send(encode(NoMoreTrialJobs{{}, "the limit is reached"}));
  }

  int next_ = 0;
  std::pair<std::string, std::string> paused_;  // job and checkpoint
  int limit_ = std::atoi(word("FAKE_LIMIT", "1000000").c_str());
};

void converse(const std::string& mode) {
  FrameDecoder decoder{Framing{}};
  Works works;
  std::ofstream log(word("FAKE_LOG", "/dev/null"), std::ios::app);
  log << "mode " << word("NNI_MODE", "") << std::endl;
  char buffer[4096];
  while (true) {
    const ssize_t size = ::read(3, buffer, sizeof buffer);
    if (size <= 0) return;
    decoder.feed(std::string_view(buffer, static_cast<std::size_t>(size)));
    while (true) {
      const auto frame = decoder.next();
      if (!frame) ::_exit(8);
      if (!*frame) break;
      log << (*frame)->code << ' ' << (*frame)->payload << std::endl;
      // A TrialEnd must bring back the very text of its NewTrialJob.
      if ((*frame)->code == "EN" && (*frame)->payload.find(R"(\"extra\":1)") == std::string::npos)
        ::_exit(6);
      const auto command = decode(**frame);
      if (!command) ::_exit(7);
      if (!works.handle(*command)) return;
      if (mode == "stops-reading") stay();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--list") {
    fmt::print(
        R"({{"tuners": [{{"name": "TPE", "aliases": ["Parzen"], "optimize_mode": "minimize"}}]}})");
    return 0;
  }
  const std::string mode = word("FAKE_DAEMON", "works");
  if (mode == "dies") {
    fmt::print(stderr, "no such tuner\n");
    return 3;
  }
  if (mode == "error") {
    send({"ER", "the space is empty"});
    return 2;
  }
  if (mode == "garbage") put("hello world, this is not a frame\n");
  if (mode == "closes") {
    ::close(4);
    stay();
  }
  converse(mode);
  if (mode == "ignores-terminate") stay();
}
